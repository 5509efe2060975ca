"""Run scripts in interpreters that were started ahead: a Python hook for the price of a function call."""
