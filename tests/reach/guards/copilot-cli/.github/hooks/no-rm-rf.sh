. "${0%/*}/common.sh"
case $(field .toolArgs.command) in
  *"rm -rf"*) echo '{"permissionDecision": "deny", "permissionDecisionReason": "folders are not deleted here"}' ;;
esac
