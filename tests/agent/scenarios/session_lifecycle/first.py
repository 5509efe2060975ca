"""Keeps the id of the first session, and puts it where a prompt says FIRST."""

import json
import os
import sys

told = json.load(sys.stdin)
if not os.path.exists("first.txt"):
    with open("first.txt", "w") as kept:
        kept.write(told["session_id"])
if "FIRST" in told.get("prompt", ""):
    with open("first.txt") as kept:
        prompt = told["prompt"].replace("FIRST", kept.read())
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", "updatedPrompt": prompt}}))
