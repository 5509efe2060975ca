#!/bin/sh
# Two machines of a fleet, each with its own HOME: laptop has an event, server runs the slow check, laptop gets the result.
set -eu
here=$(cd "$(dirname "$0")" && pwd); scratch=$(mktemp -d); trap 'kill $pids 2>/dev/null; wait; rm -rf "$scratch"' EXIT
python "$here/cluster.py" >"$scratch/cluster.toml" & pids=$!
until grep -q replicas "$scratch/cluster.toml"; do kill -0 "$pids"; sleep 0.1; done
for name in laptop server; do
  mkdir -p "$scratch/$name/.config/hookline"; cp "$here/hooks.toml" "$scratch/$name/.config/hookline"
  { cat "$scratch/cluster.toml"; echo "name = \"$name\""; } >"$scratch/$name/.config/hookline/fleet.toml"
done
HOME=$scratch/laptop hookline fleet worker --slots 0 & pids="$pids $!"
HOME=$scratch/server hookline fleet worker & pids="$pids $!"
cd "$scratch/laptop" && HOME=$scratch/laptop hookline agent "say hello" --model "scripted:$here/model.json" --allow Bash
# The run is written there when its result is on its way.
until [ -s "$scratch/server/.local/state/hookline/journal.jsonl" ]; do sleep 0.1; done
HOME=$scratch/server hookline log
