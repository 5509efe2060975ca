import json
import sys

print(json.dumps({"text": json.load(sys.stdin)["text"] + " please"}))
