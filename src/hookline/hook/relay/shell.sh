#!/bin/sh
# hookline-bash and hookline-zsh where the relay was not compiled: a shell under the exec guard.
exec "${0%/*}/hookline-relay" run --shell "${0##*-}" -- "$@"
