"""Speak the clients' model protocols: read a request, and write a step of a script as its response."""
