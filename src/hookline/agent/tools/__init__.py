"""The tools of the agent. `toolbox` lists those every session has; `base` says what a tool is."""
