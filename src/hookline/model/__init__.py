"""The words of Hookline: events, payloads, policies, hooks, outcomes. Pure, and below everything."""
