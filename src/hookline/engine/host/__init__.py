"""Implement what hosts call at each point of a conversation, behind the methods of `Session`."""
