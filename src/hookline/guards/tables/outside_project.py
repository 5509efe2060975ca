"""Guard directories: nothing is written outside the project, and nothing that guards the agent."""

from hookline.guards.spec import Flow, GuardedCommand, GuardSpec

WRITE_OUTSIDE_PROJECT = GuardSpec(
    name="write-outside-project",
    title="Writing outside the project",
    instead="Write below the project's directory or in /tmp, or ask the user.",
    outside=True,
    allows="paths",
    adds=("path",),
    catches=(
        "cp build/app /usr/local/bin/app",
        "echo 'alias ll=ls' >> ~/.bashrc",
        "mv notes.txt ..",
        "tee /etc/hosts < hosts",
        'ln -s "$PWD/bin/app" ~/bin/app',
        "tar xf x.tar -C /opt",
        "cd / && touch here",
        "sed -i s/a/b/ ~/.gitconfig",
        "rm ../other/file",
    ),
    leaves=(
        "npm test > /dev/null 2>&1",
        "echo hi > /tmp/out.txt",
        "mkdir -p build && cp a.txt build/",
        "cat ~/.bashrc",
        "cp ~/template.txt .",
        'echo "x=1" >> "$GITHUB_OUTPUT"',
    ),
    cannot=(
        (
            "What programs write by themselves: caches of package managers, `npm install -g`, `git config --global`, "
            "a script of the project."
        ),
        'A path of which the line does not show how it begins: `cp x "$TARGET"`.',
    ),
)

_CHANGES_PROGRAMS = "chmod|chown|rm|unlink|mv|truncate|shred|ln|install"
_TAKES_AWAY = "takes Hookline's own program away, and with it all guards"

SELF_PROTECTION = GuardSpec(
    name="self-protection",
    title="Changing what guards the agent",
    instead="Tell the user which change you propose.",
    protects=True,
    rows=(
        GuardedCommand(
            run="pkill|killall",
            does="ends Hookline, and with it all guards",
            # A part of the name is enough, and so is a pattern that may be one.
            operand=r"\bhoo|okl|kline|line-relay|\bh\W{1,3}",
            example="pkill -f hookl",
        ),
        GuardedCommand(
            run="kill",
            does="ends Hookline, and with it all guards",
            text="hookline",
            example="kill $(pgrep hookline)",
        ),
        GuardedCommand(
            run=_CHANGES_PROGRAMS,
            does=_TAKES_AWAY,
            operand="/bin/hookline$",
            example="chmod -x ~/.local/bin/hookline",
        ),
    ),
    flows=(
        Flow(
            source="which|command|type",
            into=(
                GuardedCommand(
                    run=_CHANGES_PROGRAMS,
                    does=_TAKES_AWAY,
                    operand="^hookline$",
                    example="chmod -x $(which hookline)",
                ),
            ),
        ),
    ),
    allows="",
    catches=(
        "echo > .hookline/hooks.toml",
        "sed -i 's/deny/allow/' .hookline/hooks.toml",
        "truncate -s 0 .hookline/hooks.toml",
        "hookline trust --yes",
        "rm -rf ~/.local/state/hookline",
        "pip uninstall -y hookline",
        "hookline agent --no-hooks",
    ),
    leaves=("cat .hookline/hooks.toml", "hookline doctor", "git add .hookline", "ls .hookline"),
    cannot=("What the line does not show: a script, an archive that is unpacked, `git pull`.",),
)
