"""Record runs in memory, in a file and with subscribers, after redacting secrets. It does not import the engine."""
