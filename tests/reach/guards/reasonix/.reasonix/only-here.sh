. "${0%/*}/common.sh"
path=$(field .toolArgs.path)
[ -n "$path" ] || exit 0
# Its hooks of a project start in the project.
case $(whole "$path") in
  "$PWD"/*) ;;
  *) echo "only files of the project are written" >&2; exit 2 ;;
esac
