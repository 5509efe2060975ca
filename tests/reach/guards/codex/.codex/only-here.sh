. "${0%/*}/common.sh"
field .tool_input.command | sed 's/\\n/\
/g' | sed -n -e 's/^\*\*\* Add File: //p' -e 's/^\*\*\* Update File: //p' -e 's/^\*\*\* Delete File: //p' \
  -e 's/^\*\*\* Move to: //p' | while read -r path; do
  case $(whole "$path") in
    "$PWD"/*) ;;
    *) echo "only files of the project are written" >&2; exit 2 ;;
  esac
done
