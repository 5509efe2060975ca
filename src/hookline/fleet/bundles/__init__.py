"""Guards for many machines: made and signed, carried, put in force, and reported."""
