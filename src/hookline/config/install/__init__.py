"""Install Hookline in the files of other agents: plan changes, write files, and keep the former contents."""
