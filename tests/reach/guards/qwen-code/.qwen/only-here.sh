. "${0%/*}/common.sh"
path=$(field .tool_input.file_path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$QWEN_PROJECT_DIR"/*) ;;
  *) echo "only files of the project are written" >&2; exit 2 ;;
esac
