. "${0%/*}/common.sh"
path=$(field .tool_input.file_path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$HOME"/.ssh/*) echo '{"decision": "block", "reason": "keys are not read"}' ;;
esac
