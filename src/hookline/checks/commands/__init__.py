"""Check what the commands of hooks run, and what they answer."""
