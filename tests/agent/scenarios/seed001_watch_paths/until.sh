# Wait until hooks were told of $1 changes, and a moment for what they answered to count.
rounds=0
until [ -e told.txt ] && [ "$(grep -c . told.txt)" -ge "$1" ]; do
    rounds=$((rounds + 1))
    [ "$rounds" -gt 1000 ] && exit 9
    sleep 0.03
done
sleep 0.3
