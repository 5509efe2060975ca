"""Settings for the bank of the shop."""

BANK_KEY = "0000-no-real-key"
