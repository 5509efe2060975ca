"""Keep the conversation on disk: write its records, read them back and find them."""
