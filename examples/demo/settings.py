"""How the shop reaches its bank."""

BANK_KEY = "0000-no-real-key"
