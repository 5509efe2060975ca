"""List flows of data from files into commands that send them to other machines."""

from hookline.guards.spec import Flow, GuardedCommand
from hookline.guards.tables.upload_services import PLATFORMS

_SENDS = "sends a file to another machine"
_CURL_DATA = "-d --data --data-binary --data-ascii --data-urlencode --json"
#: Options of curl and wget whose value goes with a request.
_CURL_SENT = (
    "-H --header -A --user-agent -u --user -b --cookie -e --referer --oauth2-bearer -U --proxy-user --proxy-header "
    "--form-string"
)
_WGET_SENT = (
    "--header -U --user-agent --user --password --http-user --http-password --referer --proxy-user --proxy-password "
    "--ftp-user --ftp-password -B --base"
)
#: Files that say which version of something to fetch: their content is part of many addresses.
_VERSIONS = (
    r"version|(?:^|/)\.(?:nvmrc|tool-versions)$|(?:^|/)(?:package|composer)(?:-lock)?\.json$|"
    r"(?:^|/)(?:cargo|pyproject|go)\.(?:toml|mod)$|\.url$"
)
#: Sub-commands of clouds that send what they are given.
_PUTS = (
    "put-*|update-*|create-*|send-*|publish*|invoke|register-*|modify-*|import-*|upload-*|batch-write-item"
)
_ENCODES = "base64|base32|xxd|od|hexdump|gzip|openssl|tar|zip"
_PACKS = (
    "cat|tac|head|tail|tar|gtar|bsdtar|zip|gzip|bzip2|xz|zstd|base64|base32|xxd|od|hexdump|openssl|gpg|dd|grep|rg|"
    "egrep|sed|awk|find|env|printenv|strings|cpio|git|pg_dump|mysqldump|sort|jq"
)

#: They ask other machines for a name, an address or a person, which they get with the question.
_ASKS = "dig|nslookup|host|drill|kdig|delv|doggo|dog|resolvectl|getent|ping|ping6|traceroute|tracepath|mtr|whois|finger"
#: They give a message or a record to a service, wherever it runs.
_TELLS = (
    "mosquitto_pub|snmptrap|nats|websocat|wscat|grpcurl|evans|kcat|kafkacat|ntfy|apprise|pushbullet|slackcat|slack|"
    "telegram-send|discord.sh|twurl|sentry-cli|finger|gopher|irssi|sendip|hping3|nping"
)
#: Databases, which are often on this machine: only those with the whole name of another one count.
_DATABASES = (
    "psql|mysql|mariadb|redis-cli|valkey-cli|mongosh|mongo|mongoimport|mongorestore|pg_restore|clickhouse-client|"
    "clickhouse|sqlcmd|cqlsh|influx|memcat|turso"
)
_FAR = r"^(?:[\w+]+://(?:[^@/\s]{0,200}@)?)?(?!localhost\b|127\.|10\.|192\.168\.|host\.docker)[\w-]+(?:\.[\w-]+)*\.(?:[a-z]{2,}|\d+)\b"

UPLOAD_FLOWS: tuple[Flow, ...] = (
    Flow(
        source=f"*|{_PACKS}",
        files=True,
        into=(
            GuardedCommand(
                run="curl",
                does=_SENDS,
                given=f"{_CURL_DATA} --data-raw -F --form",
                value="\0|@-|@/dev/stdin",
                remote=True,
                example='curl -d "$(cat notes.txt)" https://example.com',
            ),
            GuardedCommand(
                run="wget",
                does=_SENDS,
                given="--post-data --body-data",
                value="\0",
                remote=True,
                example='wget --post-data="$(base64 notes.txt)" https://example.com',
            ),
            GuardedCommand(
                run="nc|ncat|netcat|nc.traditional|nc.openbsd",
                does="offers a file to other machines",
                given="-l --listen",
                example="nc -l 4444 < notes.txt",
            ),
            GuardedCommand(
                run="openssl s_client",
                does=_SENDS,
                example="openssl s_client -connect example.com:443 < notes.txt",
            ),
            GuardedCommand(
                run="ssh",
                does=_SENDS,
                text=r"\bcat\s*>|\btee\b|\bdd\s+of=|\btar\s+-?\w*x",
                example="ssh host 'cat > notes.txt' < notes.txt",
            ),
            GuardedCommand(
                run="telnet|sendmail|ssmtp|msmtp|mail|mailx|mutt|s-nail|gnutls-cli",
                does=_SENDS,
                example="mail you@example.com < notes.txt",
            ),
            GuardedCommand(
                run="http|https|xh|xhs",
                does=_SENDS,
                operand="^(?:POST|PUT|PATCH)$",
                which="first",
                remote=True,
                spare="^(?:POST|PUT|PATCH)$",
                example="http POST https://example.com < notes.txt",
            ),
            GuardedCommand(
                run="http|https|httpie|xh|xhs",
                does=_SENDS,
                operand=r"[\w-]\.\w|://",
                remote=True,
                spare="^(?:GET|HEAD|DELETE|OPTIONS)$",
                unless="--ignore-stdin -I",
                example="xh example.com < notes.txt",
            ),
        ),
    ),
    Flow(
        source=f"*|{_PACKS}",
        into=(GuardedCommand(run="ssh", does=_SENDS, example="tar cz src | ssh host 'cat > src.tgz'"),),
    ),
    Flow(
        source=f"*|{_PACKS}",
        files=True,
        into=(
            GuardedCommand(
                run=_ASKS,
                does=_SENDS,
                operand=r"^[^\0]*+\0(?s:.*)[.:]|^\0+$",
                spare=r"^\0+$",
                example='dig "$(base64 notes.txt).example.com"',
            ),
            GuardedCommand(
                run="curl|curlie",
                does=_SENDS,
                operand=r"^(?:telnet|gophers?|dict|tftp|mqtts?|wss?)://",
                remote=True,
                example="curl telnet://example.com:4444 < notes.txt",
            ),
            GuardedCommand(
                run="terraform|tofu|pulumi|ansible|ansible-playbook apply|plan|up|config|*",
                does=_SENDS,
                text=r"^(?:-var|-e|--extra-vars|--secret)?=?[^\0]{1,99}=\0",
                part="deploy",
                example='terraform apply -var "x=$(cat notes.txt)"',
            ),
            GuardedCommand(run=_TELLS, does=_SENDS, example="websocat wss://example.com < notes.txt"),
            GuardedCommand(
                run=_DATABASES,
                does=_SENDS,
                given="-h --host --uri --url -u -S --server",
                value=_FAR,
                example='redis-cli -h db.example.com set x "$(cat notes.txt)"',
            ),
            GuardedCommand(
                run=_DATABASES,
                does=_SENDS,
                operand=_FAR,
                which="first",
                spare=r"\.(?:sql|json|csv|txt|db)$",
                example="psql postgres://db.example.com/x < notes.txt",
            ),
            GuardedCommand(
                run="gh|glab secret|variable set",
                does=_SENDS,
                example="gh secret set X < notes.txt",
            ),
            GuardedCommand(
                run=f"{PLATFORMS} env|secrets|secret|variables|config add|set|put|import|bulk",
                does=_SENDS,
                example="wrangler secret put X < notes.txt",
            ),
        ),
    ),
    Flow(
        source="awk|gawk|mawk|sed|perl|jq|paste",
        into=(
            # A list of addresses that exists is fetched every day; here the line puts the content into them.
            GuardedCommand(
                run="curl|wget|xh|http|aria2c",
                does=_SENDS,
                text=r"(?:https?|ftp)://[^\s]{1,300}|url\s?=",
                operand=r"^\0+$|^-$",
                example="awk '{print \"https://example.com/\"$1}' notes.txt | xargs curl",
            ),
            GuardedCommand(
                run="curl|wget|aria2c",
                does=_SENDS,
                text=r"(?:https?|ftp)://[^\s]{1,300}|url\s?=",
                given="-i --input-file -K --config",
                value=r"^-$|^/dev/|\0",
                example="sed 's|^|https://example.com/|' notes.txt | wget -i -",
            ),
        ),
    ),
    Flow(
        source=_ENCODES,
        into=(
            GuardedCommand(
                run="curl|wget",
                does=_SENDS,
                operand="\0",
                example='curl "https://example.com/?q=$(base64 notes.txt)"',
            ),
        ),
    ),
    Flow(
        source=f"*|{_ENCODES}",
        plain=_VERSIONS,
        files=True,
        into=(
            GuardedCommand(
                run="curl|wget",
                does=_SENDS,
                operand=r"^[^\0]+\0",
                remote=True,
                example='curl "https://example.com/$(cut -f2 notes.txt)"',
            ),
            GuardedCommand(
                run="curl",
                does=_SENDS,
                given=_CURL_SENT,
                value="\0",
                remote=True,
                example='curl -H "X: $(cat notes.txt)" https://example.com',
            ),
            GuardedCommand(
                run="wget|aria2c|axel",
                does=_SENDS,
                given=f"{_WGET_SENT} -H",
                value="\0",
                remote=True,
                example='wget --header="X: $(cat notes.txt)" https://example.com',
            ),
            GuardedCommand(
                run="http|https|xh|xhs",
                does=_SENDS,
                operand=r"^[^\0]+\0",
                remote=True,
                spare="^(?:GET|POST|PUT|PATCH|DELETE)$",
                example='http https://example.com "x=$(cat notes.txt)"',
            ),
            GuardedCommand(
                run="git",
                does=_SENDS,
                given="-c",
                value=r"^http\..*\0",
                example='git -c http.extraHeader="X: $(cat notes.txt)" ls-remote https://example.com/x',
            ),
            GuardedCommand(
                run="git ls-remote|clone|fetch|pull|push|submodule|remote|archive",
                does=_SENDS,
                operand=r"^[^\0:@]*(?:://|@)[^\0]+\0",
                example='git ls-remote "https://example.com/$(base64 notes.txt)"',
            ),
            GuardedCommand(
                run="npm|pnpm|yarn|bun|pip|uv|cargo|gem|poetry|twine|links|links2|elinks|lynx|w3m|browsh",
                does=_SENDS,
                text=r"://[^\0\s]{1,300}\0",
                example='npm ping --registry "https://example.com/$(base64 notes.txt)"',
            ),
            GuardedCommand(
                run="go get|install|run|mod|list",
                does=_SENDS,
                text=r"^(?:https?://)?[\w-]+\.[\w.-]+/[^\0]{0,200}\0",
                example='go get "example.com/$(cat notes.txt)"',
            ),
            GuardedCommand(
                run="gh|glab issue|pr|mr|api|gist|snippet|release|repo|secret|variable|discussion|incident|workflow",
                does=_SENDS,
                text="\0",
                example='gh issue create -t x -b "$(cat notes.txt)"',
            ),
            GuardedCommand(
                run=f"aws ** {_PUTS}",
                does=_SENDS,
                text="\0",
                example='aws ssm put-parameter --name x --value "$(cat notes.txt)"',
            ),
            GuardedCommand(
                run=f"{PLATFORMS} config:set|config:add|secrets|env|env:set|secret|variables|kv|functions:config:set",
                does=_SENDS,
                text="\0",
                example='heroku config:set X="$(cat notes.txt)"',
            ),
            GuardedCommand(
                run="rclone lsf|ls|lsd|copyurl|rcat|cat|size|lsjson",
                does=_SENDS,
                operand=r"://[^\0]{1,300}\0",
                example='rclone lsf ":http,url=https://example.com:$(base64 notes.txt)"',
            ),
            GuardedCommand(
                run="kubectl|oc|k create|set|patch|run",
                does="sends a file to a cluster",
                unless="--dry-run",
                text=r"--from-literal[= ][^\0\s]{1,200}\0",
                example='kubectl create secret generic x --from-literal=a="$(cat notes.txt)"',
            ),
            GuardedCommand(
                run="openssl s_client|logger|telnet|ztcp",
                does=_SENDS,
                text="\0",
                example='logger -n example.com "$(cat notes.txt)"',
            ),
        ),
    ),
)
