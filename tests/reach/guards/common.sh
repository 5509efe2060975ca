# What all the guards use.

# field PATH...: the texts at these places of the JSON on standard input, a line each, as jq has them:
# `.tool_input.command`, `.tool_input.paths[]`. Nothing for what is not there.
field() {
  wanted=$(printf '%s\n' "$@") awk '
    function blank() { sub(/^[ \t\r\n]+/, "", text) }
    function take(mark) {
      blank()
      if (substr(text, 1, 1) != mark) return 0
      text = substr(text, 2)
      return 1
    }
    function string(   found) {
      blank()
      if (!match(text, /^"([^"\\]|\\.)*"/)) exit 1
      found = substr(text, 2, RLENGTH - 2)
      text = substr(text, RLENGTH + 1)
      gsub(/\\\//, "/", found); gsub(/\\"/, "\"", found); gsub(/\\\\/, "\\", found)
      return found
    }
    function value(at,   key) {
      blank()
      if (take("{")) {
        while (!take("}")) { key = string(); take(":"); value(at "." key); take(",") }
      } else if (take("[")) {
        while (!take("]")) { value(at "[]"); take(",") }
      } else if (substr(text, 1, 1) == "\"") {
        key = string()
        if (at in asked) print key
      } else if (match(text, /^[-+.0-9A-Za-z]+/)) {
        text = substr(text, RLENGTH + 1)
      } else exit 1
    }
    { text = text $0 "\n" }
    END {
      count = split(ENVIRON["wanted"], lines, "\n")
      for (line = 1; line <= count; line++) asked[lines[line]] = 1
      value("")
    }'
}

# whole PATH: the file that a tool would open, from the root.
whole() {
  case $1 in
    '~/'*) set -- "$HOME/${1#??}" ;;
    /*) ;;
    *) set -- "$PWD/$1" ;;
  esac
  case $1 in
    */../* | */./*) printf '%s\n' "$1" | sed -e 's#/\./#/#g' -e :again -e 's#/[^/]*/\.\./#/#' -e tagain ;;
    *) printf '%s\n' "$1" ;;
  esac
}
