"""Jobs that one machine accepts and another one runs."""
