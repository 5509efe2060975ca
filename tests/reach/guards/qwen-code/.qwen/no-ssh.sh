. "${0%/*}/common.sh"
path=$(field .tool_input.file_path)
case $(whole "$path") in
  "$HOME"/.ssh/*) echo "keys are not read" >&2; exit 2 ;;
esac
