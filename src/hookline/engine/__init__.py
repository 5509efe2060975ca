"""Run hooks: an event goes in, one outcome comes out. Start reading at dispatch.py."""
