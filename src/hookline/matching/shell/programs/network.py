"""Programs that talk to other machines."""

from collections.abc import Iterator

from hookline.matching.shell.found import Found, Stdin
from hookline.matching.shell.holes import Words
from hookline.matching.shell.kinds import KINDS, from_stdin
from hookline.matching.shell.options import OptionSpec, read_options
from hookline.matching.shell.programs.row import Program

_SSH = (
    "-4 -6 -A -a -C -f -G -g -K -k -M -N -n -q -s -T -t -V -v -X -x -Y -y -B: -b: -c: "
    "-e: -i: -J: -l: -m: -p: -Q:"
)
_COPY = "-3 -4 -6 -A -B -C -O -p -q -R -r -s -T -v -a -f -N -c: -i: -J: -l: -P: -X: -b:"


_SSH_SPEC = OptionSpec(f"{_SSH} -o: -F: -I: -E: -L: -R: -D: -S: -O: -W: -w:", "posix")


def _ssh_ordered(rest: Words) -> Words:
    """Options may also follow the host."""
    read = read_options(rest, _SSH_SPEC)
    after = read.operands[1:]
    more = after[: read_options(after, _SSH_SPEC).first]
    return (*rest[: read.first], *more, *read.operands[:1], *after[len(more) :]) if read.operands else rest


def _ssh(rest: Words, stdin: Stdin) -> Iterator[Found]:
    """What comes after the host is a line for the shell there."""
    read = read_options(rest, _SSH_SPEC)
    if len(read.operands) == 1 and {" ", "/"} & {*read.operands[0].removeprefix("ssh://")}:
        # No host: a command whose host, in a variable, would be empty.
        return
    if len(read.operands) > 1:
        yield from KINDS["line"].found(" ".join(read.operands[1:]))
    elif (
        read.operands and stdin.kind != "inherited" and not read.has("-N", "-V", "-Q", "-G", "-O", "-W", "-f")
    ):
        yield from from_stdin("line", stdin)


def _curl_ordered(rest: Words) -> Words:
    """`--expand-output NAME` is `--output NAME` with variables in it."""
    return tuple("--expanded" if word.startswith("--expand-") else word for word in rest)


ROWS = (
    Program(
        "ssh, autossh, dbclient, slogin",
        "runs a line on another machine",
        _SSH,
        {
            "ssh setting": "-o:",
            "settings": "-F:",
            "file": "-I:",
            "written": "-E:",
            "beyond": "-L: -R: -D: -S: -O: -W: -w:",
        },
        style="posix",
        quiet="-V",
        ordered=_ssh_ordered,
        reader=_ssh,
        examples=(
            "ssh -o ProxyCommand='rm y' h",
            "ssh -oProxyCommand='rm y' h",
            "ssh -vo 'proxycommand rm y' h",
            "ssh -o KnownHostsCommand='/usr/bin/env rm y' -o ProxyCommand='rm y' h ls",
            "ssh h -o ProxyCommand='rm y'",
        ),
    ),
    Program(
        "mosh, et, sshpass, ssh-agent, ssh-add, assh, tsh",
        "runs a command",
        "-p: -f: -d: -e -a: -t:",
        {"words": "--ssh:"},
        loose=(),
        examples=("ssh-agent rm y", "ssh-agent sh -c 'rm y'"),
    ),
    Program(
        "scp, sftp",
        "copies files to and from other machines",
        _COPY,
        {"ssh setting": "-o:", "program": "-S:", "line": "-D:", "settings": "-F:"},
        examples=(
            "scp -o ProxyCommand='rm y' a h:b",
            "touch a; scp -S $(command -v rm) a h:b",
            "sftp -oProxyCommand='rm y' h",
            "touch a; scp -rqS rm a h:b",
            "sftp -D 'rm y' h",
        ),
    ),
    Program(
        "ssh-keygen, ssh-keyscan, ssh-copy-id",
        "works with keys",
        "-t: -b: -f: -N: -C: -p -q -y -l -R: -F: -H -i:",
        {"file": "-D: -w:", "ssh setting": "-o:"},
    ),
    Program(
        "socat, filan, procan",
        "connects two streams",
        "-d -D -h -v -x -V -u -U -s -g -t: -T: -b: -L: -W: -4 -6 -l: -r: -R:",
        others="socat address",
        examples=(
            "socat - EXEC:'rm y'",
            "socat - SYSTEM:'rm y'",
            "socat -u /dev/null 'exec:rm y,pty'",
            "socat 'SYSTEM:rm y!!-' -",
        ),
    ),
    Program(
        "nc, ncat, netcat, nc.openbsd, nc.traditional",
        "connects to a port",
        "-4 -6 -l -k -n -u -v -w: -p: -s: -z -i: -q: -x: -X: -N -C -d -D -U -t -r -g: -G: -m: -h "
        "--listen --recv-only --send-only --ssl",
        {"line": "-e: -c: --exec: --sh-exec:", "lua": "--lua-exec:"},
        examples=("timeout 1 nc -l -p 9 -e rm", "ncat -lc 'rm y' 9 & ncat 127.0.0.1 9 < /dev/null"),
    ),
    Program(
        "tcpdump, dumpcap, tshark",
        "records packets",
        "-A -b -d -D -e -f -H -I -K -l -L -n -N -O -p -q -S -t -u -U -v -x -X -B: -c: -C: -E: "
        "-F: -G: -i: -j: -M: -r: -s: -T: -V: -W: -y: -Z:",
        {"program": "-z:", "written": "-w:"},
        plain="written",
        examples=(),
    ),
    Program(
        "nmap",
        "looks for open ports",
        "-p: -o: -i: -T: -s: -P: -O -A -v -n -F -oN: -oX: -oG: -oA: -iL: --top-ports: --script-args:",
        {"nmap script": "--script:"},
        quiet="--help --version -V -h",
        stdin="",
    ),
    Program(
        "curl",
        "fetches or sends over the network",
        "-a -f -F: -g -G -i -I -j -J -k -l -L -m: -M -n -N -O -p -P: -q -Q: -r: -R -s -S -t: -T: "
        "-u: -U: -v -V -x: -X: -y: -Y: -z: -# -0 -1 -2 -3 "
        "-4 -6 -A: -b: -B -c: -C: -d: -D: -e: -E: -h -H: -o: -Z --data: --header: --request: "
        "--output: --url: --user: --max-time: "
        "--connect-timeout: --retry: --form: --cookie: --cookie-jar: --cacert: "
        "--proxy: --user-agent: --data-raw: "
        "--data-binary: --data-urlencode: --upload-file: --resolve: --json: --output-dir: "
        "--range: --limit-rate: --compressed",
        {
            "settings": "-K: --config:",
            "curl format": "-w: --write-out:",
            "beyond": "--libcurl: --engine: --dump-module-paths: --unix-socket: --abstract-unix-socket: "
            "--proto-default: "
            "--ntlm-wb",
            # What these write is told by the rows about files; with `--expand-` before it, only here.
            "written": "--expanded:",
        },
        quiet="--help -V --version -h --manual",
        ordered=_curl_ordered,
        examples=(),
    ),
    Program(
        "wget, wget2",
        "fetches over the network",
        "-q -v -c -N -r -k -m -p -np -nc -nd -nv -nH -S -t: -T: -w: -O: -P: -o: -a: -i: -U: -Q: "
        "-l: -A: -R: -D: -I: -X: -B: -d -b -F -x -4 -6 -H -L -K -E "
        "--header: --method: --body-data: --post-data: --user: --password: --timeout: --tries: "
        "--output-document:",
        {"program": "--use-askpass:", "settings": "--config:", "wget": "-e: --execute:"},
        examples=(
            "wget --use-askpass=rm http://u@127.0.0.1/",
            "wget -e use_askpass=rm http://u@127.0.0.1/",
            "wget -e' --Use-Ask-Pass = rm' http://u@127.0.0.1/",
        ),
    ),
    Program(
        "ftp, lftp, telnet, tnftp",
        "talks to another machine",
        "-n -i -v -p -d -u: -p:",
        {"ed": "-c: -e:"},
        stdin="ed",
        besides="-e",
        examples=("ftp -n <<< '!rm y'", "lftp -c '!rm y'", "telnet <<< '!rm y'"),
    ),
    Program("openssl", "works with keys and certificates", style="posix"),
    Program("openssl engine", "loads an engine", always=True),
    Program(
        "gpg, gpg2, gpgsm",
        "signs and encrypts",
        "-a -b -d -e -k -K -q -s -v -o: -r: -u: --output: --recipient: --homedir: --batch --yes",
        {
            "line": "--photo-viewer:",
            "program": "--agent-program: --dirmngr-program: --pinentry-program: --exec-path:",
            "settings": "--options: --load-extension:",
        },
    ),
    Program("ip", "sets up the network", style="posix", loose=("exec",), examples=()),
    Program(
        "iptables, nft, ufw, firewall-cmd, ifconfig, dhclient, wg-quick, openvpn",
        "sets up the network",
        "",
        {"line": "--up: --down: -sf: --script: --route-up: --modprobe:"},
        style="words",
        examples=(),
    ),
    Program(
        "ansible",
        "runs modules on other machines",
        "-i: -m: -u: -b -K -k -e: -f: -l:",
        {"line": "-a: --args:"},
        examples=("ansible localhost -m shell -a 'rm y'",),
    ),
    Program(
        "ansible-playbook, ansible-console, ansible-pull, fab, pyinfra, salt, salt-call, salt-ssh, "
        "pdsh, pssh, parallel-ssh, clush, dsh, mussh, dancer",
        "runs commands on other machines",
        loose=(),
    ),
    Program(
        "gcloud, az, aws, doctl",
        "works with a cloud",
        "--project: --account: --profile: --region: --output: --configuration:",
        {"line": "--command: --ssh-flag:"},
        others="",
    ),
    Program(
        "aws-vault, doppler, op, infisical, chamber, teller, envconsul, sops, vault",
        "runs a command with secrets",
        style="posix",
        loose=("exec", "run", "exec-env", "exec-file"),
        examples=(),
    ),
    Program(
        "tailscale, fly, flyctl, vagrant, heroku, foreman, honcho, multipass, lxc, incus, limactl, "
        "lima, colima, eb",
        "works with other machines",
        style="posix",
        loose=("ssh", "exec", "shell", "run", "rsh"),
        examples=(),
    ),
)
