. "${0%/*}/common.sh"
# A move has a source and a destination, any other call one file.
field .tool_input.file_path .tool_input.source .tool_input.destination | while read -r path; do
  case $(whole "$path") in
    "$HOOKLINE_PROJECT_DIR"/*) ;;
    *) echo '{"decision": "block", "reason": "only files of the project are written"}'; break ;;
  esac
done
