"""Make, sign, distribute, activate and report guards for many machines."""
