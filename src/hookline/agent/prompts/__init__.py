"""Turn a submitted text into a prompt: `submit` is the way through; the other modules are its steps."""
