import sys

sys.stdin.read()
print("noted")
