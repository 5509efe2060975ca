"""The local page of `hookline console`: what the hooks did, in a browser. Needs the extra `console`."""
