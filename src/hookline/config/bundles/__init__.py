"""Bundles: hooks that a team signs and its machines take over. This is what a machine needs to read one.

`format` is the signed file, `settings` whom a machine believes, `place` where bundles are kept, and `load` turns those
in force into managed hooks. Publishing, receiving and activating them is in `hookline.fleet`.
"""
