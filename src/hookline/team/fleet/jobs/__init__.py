"""Run jobs that one machine accepts on another one."""
