"""What hosts call at each moment of a conversation: methods of `Session`, spelled out."""
