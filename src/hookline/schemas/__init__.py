"""Derive JSON Schemas of Hookline's own format from the tables that its readers use."""
