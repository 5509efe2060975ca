. "${0%/*}/common.sh"
case $(field .tool_input.command) in
  *"rm -rf"*) echo '{"permission": "deny", "user_message": "folders are not deleted here"}' ;;
esac
