"""Running the processes of command hooks: started, bounded, killed with everything they started."""
