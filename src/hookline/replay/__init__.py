"""Hindsight: the hooks of today on the sessions of the past, and whether they were asked when they should have been."""
