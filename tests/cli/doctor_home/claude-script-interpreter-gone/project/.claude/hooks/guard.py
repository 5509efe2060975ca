#!/opt/python2.7/bin/python
print("{}")
