"""Run the processes of command hooks: start them, limit them, kill them with everything they started."""
