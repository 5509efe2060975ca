"""The runs of all machines: sent by each of them, and copied for the console of a team."""
