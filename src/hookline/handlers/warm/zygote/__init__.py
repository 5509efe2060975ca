"""What the interpreter of a hook runs ahead. These modules import nothing of Hookline, nor it anything of them."""
