"""The grammar of the shell: text in, `syntax` out."""
