"""`make clients`: real agents with Hookline as their hook, and a model that plays a script.

It downloads the client with npm into a scratch directory, so `make test` and `.ci/run` do not run it.
"""
