"""Protect Hookline itself: files that configure guards are not changed without a question.

`protected_paths` lists the protected files, `lines` finds those that a shell line writes to, and `calls` checks
the actions of a call (`actions/action.py`). The guard `self-protection`, permissions, and `hookline hook` inside
other agents use this.
"""
