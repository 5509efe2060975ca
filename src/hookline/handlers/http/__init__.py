"""Call hooks behind a URL: the rules for URLs, and one request."""
