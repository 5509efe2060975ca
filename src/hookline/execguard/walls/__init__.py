"""Build walls around a command: around files, by Landlock, and around the network."""
