. "${0%/*}/common.sh"
path=$(field .tool_input.file_path)
case $(whole "$path") in
  "$HOME"/.ssh/*) echo '{"permission": "deny", "user_message": "keys are not read"}' ;;
esac
