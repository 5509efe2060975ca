#!/bin/sh
# A shell under Hookline's exec guard, for agents whose users choose their shell: hookline-bash, hookline-zsh.
exec "${0%/*}/hookline-relay" run --shell "${0##*-}" -- "$@"
