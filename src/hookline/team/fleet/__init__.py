"""Share jobs, wakes, runs and bundles between machines over NATS JetStream; files of the user are the guarantee."""
