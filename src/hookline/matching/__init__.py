"""Match hooks and rules against events: matchers, conditions, tool rules. Pure."""
