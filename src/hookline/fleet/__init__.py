"""Beyond one machine: jobs, wakes, runs and bundles over NATS JetStream, with files of the user as the guarantee."""
