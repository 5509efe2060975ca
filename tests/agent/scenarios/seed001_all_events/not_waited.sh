# It ends only when the agent has come to its last prompt: had anybody waited for it, that would never be.
cat > /dev/null
rounds=0
until [ -e "$HOME/project/gate" ]; do
    rounds=$((rounds + 1))
    [ "$rounds" -gt 1000 ] && exit 0
    sleep 0.03
done
echo "$1" >> "$HOME/project/not_waited.txt"
