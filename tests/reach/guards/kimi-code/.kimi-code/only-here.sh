. "${0%/*}/common.sh"
path=$(field .tool_input.path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$PWD"/*) ;;
  *) echo "only files of the project are written" >&2; exit 2 ;;
esac
