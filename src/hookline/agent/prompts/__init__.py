"""From a submitted text to a prompt: `submit` is the way through; the other modules are its steps."""
