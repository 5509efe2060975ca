. "${0%/*}/common.sh"
case $(field .tool_input.cmd) in
  *"rm -rf"*)
    echo '{"hook_specific_output":{"permission_decision":"deny","permission_decision_reason":"folders are not deleted here"}}' ;;
esac
