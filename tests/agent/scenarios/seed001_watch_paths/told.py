"""Keep every payload; the first change makes the hook watch another file as well."""

import json
import os
import sys

received = json.load(sys.stdin)
if received["event"] == "add":
    second = os.path.join(received["cwd"], "second.txt")
    print(json.dumps({"hookSpecificOutput": {"hookEventName": "FileChanged", "watchPaths": [second]}}))
with open("told.txt", "a") as kept:
    kept.write(f"{received['event']} {received['file_path']}\n")
