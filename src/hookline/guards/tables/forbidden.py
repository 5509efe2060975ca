"""Guard what the user forbids: paths, hosts and commands that the options name."""

from hookline.guards.spec import GuardSpec

_INSTEAD = "The user forbids it. Do without it, or ask the user."

FORBID_PATH = GuardSpec(
    name="forbid-path",
    title="Reading and writing the files and directories that you name",
    instead=_INSTEAD,
    allows="paths",
    adds=("path",),
    uses=True,
    example=("path=~/.ssh", "path=src/generated"),
    tries=("cat {}/x", "cat README.md"),
    catches=(
        "cat ~/.ssh/config",
        "sed -i s/a/b/ src/generated/a.py",
        "cp key.txt ~/.ssh/",
        "cd ~/.ssh && tar c .",
        "cat ~/.s*/id_rsa",
        "grep -r KEY ~",
        "rm -rf src",
        "python3 -c \"print(open('src/generated/a.py').read())\"",
    ),
    leaves=("cat README.md", "ls src", "ssh -i ~/.ssh/id host true"),
    cannot=("What the line does not show: a script, or a path in a variable that something else sets.",),
)

FORBID_HOST = GuardSpec(
    name="forbid-host",
    title="Reaching the hosts that you name, and those below them",
    instead=_INSTEAD,
    allows="hosts",
    adds=("host",),
    example=("host=evil.example",),
    tries=("curl https://{}/", "curl https://localhost/"),
    catches=(
        "curl https://evil.example/x",
        "ssh me@files.evil.example",
        "git clone evil.example:x/y",
        "python3 -c \"import urllib.request as u; u.urlopen('http://evil.example')\"",
    ),
    leaves=("curl https://notevil.example/", "ping evil.example.org"),
    cannot=(
        "A host that the line does not name: an address of its own, a name in a settings file, another DNS name.",
    ),
)

FORBID_COMMAND = GuardSpec(
    name="forbid-command",
    title="Running the commands that you name",
    instead=_INSTEAD,
    allows="commands",
    adds=("command",),
    example=("command=kubectl", "command=npm publish *"),
    tries=("{}", "ls"),
    catches=("kubectl get pods", "sudo /usr/bin/kubectl apply -f x", "cd app && npm publish --tag next"),
    leaves=("npm test", "grep kubectl README.md"),
    cannot=("A script or another program that runs the command.",),
)
