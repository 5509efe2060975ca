#!/bin/sh
if grep -q force; then
  echo "no force" >&2
  exit 1
fi
