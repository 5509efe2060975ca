import os
import sys

with open("seen.txt", "a") as seen:
    seen.write(os.environ["DEEPSEEK_TOOL_NAME"] + " " + os.environ["DEEPSEEK_TOOL_ARGS"] + "\n")
if "rm " in os.environ["DEEPSEEK_TOOL_ARGS"]:
    print("nothing is removed here")
    sys.exit(2)
