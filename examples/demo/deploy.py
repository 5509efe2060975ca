"""Brings the shop to its customers: python3 deploy.py [--dry-run]"""

import sys

print("a dry run: nothing was deployed" if "--dry-run" in sys.argv else "the shop is online now")
