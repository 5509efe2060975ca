"""Past sessions as one stream of moments, whichever agent kept them. Each dialect reads the files of its agent."""
