"""What the models of the clients speak: how a request is read, and how a step of a script is written as its answer."""
