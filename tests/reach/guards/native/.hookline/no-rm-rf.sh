. "${0%/*}/common.sh"
case $(field .tool_input.command) in
  *"rm -rf"*) echo '{"decision": "block", "reason": "folders are not deleted here"}' ;;
esac
