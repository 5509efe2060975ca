"""JSON Schemas of Hookline's own format, derived from the tables that its readers use."""
