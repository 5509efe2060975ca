"""Define Hookline's records: events, payloads, policies, hooks, outcomes. Pure, and below everything else."""
