. "${0%/*}/common.sh"
path=$(printf %s "$DEEPSEEK_TOOL_ARGS" | field .path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$DEEPSEEK_WORKSPACE"/*) ;;
  *) echo "only files of the project are written" >&2; exit 2 ;;
esac
