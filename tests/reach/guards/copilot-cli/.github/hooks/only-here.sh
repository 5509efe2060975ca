. "${0%/*}/common.sh"
path=$(field .toolArgs.path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$COPILOT_PROJECT_DIR"/*) ;;
  *) echo '{"permissionDecision": "deny", "permissionDecisionReason": "only files of the project are written"}' ;;
esac
