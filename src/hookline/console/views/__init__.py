"""The pages, one module each: from what the index and the ports know to HTML."""
