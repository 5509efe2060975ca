"""Protect Hookline itself: files that configure guards are not changed without a question.

`places` lists the protected files, `glance` and `lines` find those that a shell line writes to, and `calls`
checks the actions of a call (`tools/acts.py`). The guard `self-protection` (`guards/tables/places.py`),
permissions, and `hookline hook` inside other agents use this.
"""
