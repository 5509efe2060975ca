"""Whether a hook or a rule is about an event: matchers, conditions, tool rules. Pure."""
