. "${0%/*}/common.sh"
case $(printf %s "$DEEPSEEK_TOOL_ARGS" | field .command) in
  *"rm -rf"*) echo '{"decision": "deny", "reason": "folders are not deleted here"}' ;;
esac
