# Write to a file, then wait until hooks were told of it: $1 the file, $2 the text, $3 what is told, $4 how often.
mkdir -p "$(dirname "$1")"
printf '%s\n' "$2" >> "$1"
rounds=0
until [ -e seen.txt ] && [ "$(grep -c "$3" seen.txt)" -ge "$4" ]; do
    rounds=$((rounds + 1))
    [ "$rounds" -gt 1000 ] && exit 9
    sleep 0.03
done
