cat >> seen.txt
echo >> seen.txt
if tail -n 1 seen.txt | grep -q . || tail -n 2 seen.txt | grep -q local_settings; then
    echo "not the local one" >&2
    exit 2
fi
