"""Render the pages, one module each: from the data of the index and the ports to HTML."""
