"""The shop's own test: python3 check_shop.py"""

import sys

from shop import price

if price(1000) != 1200:
    sys.exit(f"price(1000) is {price(1000)}, and it must be 1200")
print("the shop is fine")
