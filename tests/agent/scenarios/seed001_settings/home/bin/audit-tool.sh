#!/bin/sh
# Writes down what it is asked about, and denies a forced push.
tee -a audit.jsonl | grep -q 'push --force' && { echo "forced pushes are audited first" >&2; exit 2; }
exit 0
