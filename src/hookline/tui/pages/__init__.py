"""What takes the whole terminal for a while, on the alternate screen."""
