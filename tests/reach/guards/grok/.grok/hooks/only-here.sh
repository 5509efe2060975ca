. "${0%/*}/common.sh"
path=$(field .tool_input.file_path .tool_input.path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$GROK_WORKSPACE_ROOT"/*) ;;
  *) echo "only files of the project are written" >&2; exit 2 ;;
esac
