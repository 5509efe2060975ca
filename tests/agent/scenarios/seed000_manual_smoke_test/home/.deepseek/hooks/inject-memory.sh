#!/bin/sh
# Prepends [hooked] to every submitted message.
sed 's/.*"text":"\([^"]*\)".*/{ "text": "[hooked] \1" }/'
