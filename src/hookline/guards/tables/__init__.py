"""List the rules of the guards: a policy for each of them, and the options of the programs that they are
about."""
