"""Show runs of hooks in a local web page, for `hookline console`. Needs the extra `console`."""
