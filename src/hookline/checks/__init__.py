"""What `hookline doctor` looks for: mistakes that can be found without running a hook."""
