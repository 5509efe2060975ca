#!/bin/sh
cat > notified.json
