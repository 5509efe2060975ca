"""Run Hookline in agent frameworks: a module or package per framework, which alone imports it.

Extras have their names.
"""
