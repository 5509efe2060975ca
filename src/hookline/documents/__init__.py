"""Configuration text as values, with the line of everything in it. Pure: text comes in, nothing is opened."""
