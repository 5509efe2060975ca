"""Provide the tools of the agent. `toolbox` lists those every session has; `base` defines a tool."""
