"""Play one turn: `loop` plays it from top to bottom; the other modules are its steps."""
