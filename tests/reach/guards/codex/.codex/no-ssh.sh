. "${0%/*}/common.sh"
# Codex itself reads files by commands; other agents have a tool for it.
path=$(field .tool_input.path .tool_input.file_path)
[ -n "$path" ] || exit 0
case $(whole "$path") in
  "$HOME"/.ssh/*) echo "keys are not read" >&2; exit 2 ;;
esac
