"""Run ahead in the interpreter of a hook. These modules import nothing of Hookline, and Hookline imports none
of them."""
