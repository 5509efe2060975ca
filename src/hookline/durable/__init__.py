"""Work that outlives the process that accepted it: a queue of jobs, and the wakes that come of them."""
