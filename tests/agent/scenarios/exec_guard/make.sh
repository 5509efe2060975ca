touch made
touch not_made
