cat > /dev/null
echo "$1" >> "$HOME/project/waited.txt"
