"""Check configurations for `hookline doctor`: find mistakes without running a hook."""
