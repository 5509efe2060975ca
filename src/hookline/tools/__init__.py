"""What tools mean: agents name them in their own ways, and a hook written for one agent holds in another."""
