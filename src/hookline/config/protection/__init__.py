"""Self-protection: what configures guards is not changed without a question.

`places` says which files are protected, `glance` and `lines` which of them a shell line writes to, and `calls` asks
about the acts of a call (`tools/acts.py`). The guard `self-protection` (`guards/tables/places.py`), permissions, and
`hookline hook` inside other agents ask here.
"""
