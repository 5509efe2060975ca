. "${0%/*}/common.sh"
path=$(field .tool_input.file_path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$GEMINI_PROJECT_DIR"/*) ;;
  *) echo '{"decision": "deny", "reason": "only files of the project are written"}' ;;
esac
