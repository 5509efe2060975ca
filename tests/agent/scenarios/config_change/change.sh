# Write a file, then wait until a hook was told of it: $1 the file, $2 its text, $3 what the hook is told.
mkdir -p "$(dirname "$1")"
printf '%s\n' "$2" >> "$1"
rounds=0
until grep -q "$3" seen.txt 2> /dev/null; do
    rounds=$((rounds + 1))
    [ "$rounds" -gt 1000 ] && exit 9
    sleep 0.03
done
