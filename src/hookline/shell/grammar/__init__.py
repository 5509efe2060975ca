"""Parse shell text: text in, `syntax` out."""
