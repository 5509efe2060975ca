"""Read configuration text as values, with the line of everything in it. Pure: text comes in, no file is
opened."""
