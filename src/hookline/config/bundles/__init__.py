"""Read bundles: hooks that a team signs and its machines use.

`format` is the signed file, `settings` has the trusted signers, `store` keeps bundles, and `load` turns the
active ones into managed hooks. Publishing, receiving and activating them is in `hookline.team.fleet`.
"""
