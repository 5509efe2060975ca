"""Show pages that take the whole terminal for a while, on the alternate screen."""
