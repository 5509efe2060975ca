"""Send the runs of all machines to the server, and copy them for a team's console."""
