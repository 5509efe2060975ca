#!/usr/bin/env -S ts-node-that-is-not-here --quiet
