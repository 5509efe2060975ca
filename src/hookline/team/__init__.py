"""Run Hookline for a team: the fleet of machines, decisions over HTTP, and the console."""
