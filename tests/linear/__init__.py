"""Time grows with the length of a text, never faster: every pattern, and every guard, rule and redaction."""
