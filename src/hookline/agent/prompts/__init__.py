"""What a submitted prompt becomes. `preparing.prepare` is the way through; the rest is its steps."""
