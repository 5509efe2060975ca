. "${0%/*}/common.sh"
path=$(field .tool_input.file_path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$CURSOR_PROJECT_DIR"/*) ;;
  *) echo '{"permission": "deny", "user_message": "only files of the project are written"}' ;;
esac
