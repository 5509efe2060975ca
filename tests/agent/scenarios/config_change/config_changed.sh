told=$(cat)
printf '%s\n' "$told" >> seen.txt
case "$told" in
*local_settings*)
    echo "not the local one" >&2
    exit 2
    ;;
esac
