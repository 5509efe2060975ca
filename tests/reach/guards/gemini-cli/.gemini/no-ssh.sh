. "${0%/*}/common.sh"
field .tool_input.file_path ".tool_input.include[]" | {
  while read -r path; do
    case $(whole "$path") in
      "$HOME"/.ssh/*) echo "keys are not read" >&2; exit 2 ;;
    esac
  done
}
