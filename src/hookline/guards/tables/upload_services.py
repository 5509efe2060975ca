"""List commands by which developers upload files to services: forges, clouds, registries and hosts."""

from functools import partial

from hookline.guards.spec import GuardedCommand

_sends = partial(GuardedCommand, does="sends a file to another machine")
_shows = partial(GuardedCommand, does="puts files on the web")
PLATFORMS = (
    "vercel|now|netlify|netlify-cli|firebase|firebase-tools|fly|flyctl|railway|heroku|wrangler|surge|supabase|amplify|"
    "eb|doctl|sls|serverless|render|deployctl|modal|eas|eas-cli|expo|fastlane|cf|scalingo|clever|dokku|convox|porter|"
    "koyeb|northflank|zeabur|platform|upsun|gigalixir|appwrite|nhost|partykit|sst|encore|begin|arc|shuttle|cargo-shuttle"
)
_deploys = partial(GuardedCommand, does="uploads the project to a hosting service", part="deploy")

SERVICES: tuple[GuardedCommand, ...] = (
    _sends(
        run="aws **",
        text="(?:^|=)fileb?://",
        example="aws ssm put-parameter --name x --value file://notes.txt",
    ),
    _sends(
        run="aws **",
        given="--zip-file --body --template-body --cli-input-json --payload",
        value="^fileb?://",
        example="aws lambda update-function-code --function-name x --zip-file fileb://x.zip",
    ),
    _deploys(
        run="sam|cdk|copilot|chalice|zappa deploy|sync|package",
        example="sam deploy --guided",
    ),
    _deploys(
        run="aws ** deploy|package",
        example="aws cloudformation deploy --template-file x.yml --stack-name x",
    ),
    _sends(run="gcloud builds submit", example="gcloud builds submit ."),
    _deploys(
        run="gcloud ** deploy",
        example="gcloud run deploy x --source .",
    ),
    _sends(
        run="gcloud ** create|update|add|import|publish|set",
        given="--data-file --from-file --source --message-file --body-file --file",
        example="gcloud secrets create x --data-file=notes.txt",
    ),
    _sends(
        run="az ** create|update|deploy|up|set|import|upload|publish",
        text=r"^@.|^--(?:file|source|src|src-path|body|template-file)\b",
        example="az keyvault secret set --name x --file notes.txt",
    ),
    _sends(run="oci os object put|bulk-upload|sync", example="oci os object put --file x -bn b"),
    _sends(
        run="gh|glab api",
        given="-F --field -f --raw-field --form",
        value="[=<]@",
        example="glab api snippets -F content=@notes.txt",
    ),
    GuardedCommand(
        run="gh issue|pr|discussion|release|gist|workflow",
        does="puts a file on the web",
        given="-F --body-file --notes-file",
        value=r"^(?!-$)(?!.*\.(?:md|markdown)$)",
        example="gh issue create --title x --body-file notes.txt",
    ),
    _shows(
        run="gh gist edit",
        given="-a --add",
        example="gh gist edit 1 -a notes.txt",
    ),
    _sends(
        run="gh codespace|cs cp",
        operand="^remote:",
        which="last",
        example="gh codespace cp notes.txt remote:x",
    ),
    _shows(
        run="hub|tea|jf gist|release|releases|rt create|upload|edit",
        text=r"^-a$|^--(?:attach|asset)\b|^gist$",
        example="hub release create -a notes.txt v1",
    ),
    _sends(
        run="gh|glab secret|variable set",
        given="-f --env-file",
        example="gh secret set -f .env",
    ),
    GuardedCommand(
        run="gh repo create",
        does="puts the project on the web",
        given="--push --source",
        example="gh repo create x --source=. --push",
    ),
    GuardedCommand(
        run="gh repo edit",
        does="shows the repository to everybody",
        given="--visibility",
        value="public",
        example="gh repo edit --visibility public",
    ),
    _shows(
        run="gh release create",
        operand=r"/|\.\w+$|#",
        which="last",
        spare=r"^v?\d",
        example="gh release create v1 dist/app.zip",
    ),
    _shows(
        run="glab snippet create|new",
        example="glab snippet create notes.txt",
    ),
    _shows(
        run="glab release upload|create",
        operand=r"/|\.\w+$",
        spare=r"^v?\d",
        example="glab release upload v1 dump.sql",
    ),
    GuardedCommand(run="rclone serve", does="offers files to other machines", example="rclone serve http ."),
    _sends(
        run="rclone copy|copyto|sync|move|moveto|bisync|rcat|rcp|serve",
        operand=r"^:?[\w-]+(?:,[^:]*)?:",
        which="last",
        unless="-n --dry-run",
        example="rclone copy . :s3,env_auth:bucket",
    ),
    GuardedCommand(
        run="docker|podman|nerdctl|buildah|depot|img buildx|build|bake|push",
        does="publishes an image",
        given="--push",
        example="docker buildx build --push -t example.com/x .",
    ),
    GuardedCommand(
        run="docker|podman|nerdctl|buildah|depot buildx|build|bake",
        does="publishes an image",
        given="-o --output --cache-to",
        value="type=(?:registry|s3|gha|azblob)|push=true",
        example="docker buildx build --output type=registry,name=example.com/x .",
    ),
    GuardedCommand(
        run="docker|podman build|cp|import|load|compose|buildx|save|export",
        does="sends files to another machine's daemon",
        given="-H --host -c --context --url --connection",
        value=r"^(?!unix:|default$|desktop-linux$|rootless$|npipe:)",
        example="docker -H tcp://example.com cp notes.txt c:/",
    ),
    GuardedCommand(
        run="docker|podman|nerdctl cp",
        does="puts a file into a container",
        operand=r"^[\w.-]{1,}:",
        which="last",
        part="containers",
        example="docker cp notes.txt c:/x",
    ),
    GuardedCommand(
        run="kubectl|oc|k create|apply|replace|set|patch",
        does="sends a file to a cluster",
        given="--from-file --from-env-file",
        unless="--dry-run",
        example="kubectl create configmap x --from-file=notes.txt",
    ),
    GuardedCommand(
        run="helm push|cm-push", does="publishes a chart", example="helm push x.tgz oci://example.com/x"
    ),
    GuardedCommand(
        run="skopeo|oras|crane|regctl|cosign copy|sync|push|append|attach|upload|artifact|image",
        does="publishes an image or a file",
        operand=r"^(?:docker|oci)://|^[\w.-]+\.[a-z]{2,}[/:]|/",
        example="skopeo copy dir:. docker://example.com/x",
    ),
    _shows(run="ipfs add|dag|block|files", example="ipfs add notes.txt"),
    _deploys(
        run=f"{PLATFORMS} deploy|up|publish|release|--prod|container:push|builds:create|hosting:channel:deploy",
        unless="--dry-run",
        example="vercel deploy --prod",
    ),
    _deploys(
        run="wrangler|supabase|firebase|doctl pages|functions|serverless|versions|app deploy|upload|publish",
        unless="--dry-run",
        example="wrangler pages deploy .",
    ),
    _sends(
        run="wrangler|supabase|netlify kv|r2|storage|blobs|d1|secret key|object|put|cp|bulk|set|execute|secret",
        given="--path -f --file",
        example="wrangler kv key put --binding=x k --path notes.txt",
    ),
    _sends(run="wrangler secret|secret:bulk bulk", example="wrangler secret bulk secrets.json"),
    GuardedCommand(
        run="supabase db push",
        does="changes the database of a service",
        part="deploy",
        example="supabase db push",
    ),
    _sends(run="wrangler r2 object put", example="wrangler r2 object put b/k --pipe"),
    _sends(
        run="supabase storage cp|mv",
        operand="^ss://",
        which="last",
        example="supabase storage cp notes.txt ss:///b/n",
    ),
    _deploys(
        run="vercel|now",
        given="--prod --prebuilt",
        example="vercel --prod",
    ),
    _deploys(
        run="vercel|now|surge",
        operand=r"^[./]",
        which="first",
        example="surge ./dist example.surge.sh",
    ),
    _shows(
        run="hf|huggingface-cli upload|upload-large-folder|repo-files",
        example="hf upload me/x notes.txt",
    ),
    _shows(
        run="kaggle datasets|kernels|models|competitions|d|k|m|c create|version|push|submit|instances",
        example="kaggle datasets create -p .",
    ),
    _sends(run="wandb artifact put", example="wandb artifact put notes.txt"),
    _sends(
        run="mlflow artifacts log-artifact|log-artifacts",
        example="mlflow artifacts log-artifact --local-file notes.txt --run-id 1",
    ),
    _sends(run="modal volume|nfs put", example="modal volume put v notes.txt"),
    _sends(run="dvc push", example="dvc push"),
    _sends(run="wandb sync", example="wandb sync runs"),
    _sends(
        run="jf|jfrog rt|c upload|u|build-publish|docker-push|terraform-publish",
        example="jf rt upload notes.txt repo/",
    ),
    _sends(
        run="svn|hg|bzr|fossil|cvs import|commit|ci|push",
        text=r"^(?!file:)[a-z+]+://",
        example="svn import notes.txt http://example.com/svn -m x",
    ),
    _shows(
        run="pastebinit|wgetpaste|fpaste|haste|sprunge|gist|wput|cadaver|megaput|mega-put|gdrive|transfer|transfer.sh|0x0",
        example="pastebinit notes.txt",
    ),
    _sends(
        run="slackcat|telegram-send|slack|discord.sh|salt-cp",
        text=r"^--?(?:f|file|image|video|upload)$|\.\w{1,5}$|/",
        example="telegram-send --file notes.txt",
    ),
    _sends(
        run="mosquitto_pub|kcat|kafkacat|mongoimport|mongorestore|influx",
        text=r"^-(?:f|l|P)$|^--file\\b|\.\w{1,5}$",
        given="-h --host -b --uri",
        value=r"^(?:\w+://)?(?!localhost|127\.)[\w-]+\.[\w.-]",
        example="mosquitto_pub -h example.com -t x -f notes.txt",
    ),
    _sends(
        run="openai|anthropic|replicate|modal files|api|file create|upload|files.create",
        given="-f --file",
        example="openai api files.create -f notes.txt -p fine-tune",
    ),
    _sends(
        run="ansible|ansible-console",
        given="-m --module-name",
        value="^(?:ansible\\.builtin\\.)?(?:copy|template|unarchive|script|synchronize)$",
        example="ansible all -m copy -a 'src=notes.txt dest=/x'",
    ),
    _sends(
        run="gio copy|move|save",
        operand=r"^(?!file:)[a-z][\w+-]{1,20}://",
        which="last",
        example="gio copy notes.txt sftp://example.com/x",
    ),
    _sends(
        run="swift|openstack|ibmcloud|s4cmd|tailscale|doctl upload|object|cos|put|file|spaces|cp|create|cp|sync|*",
        text=r"^(?:upload|create|put|cp|sync|object-put)$",
        example="swift upload container notes.txt",
    ),
    _sends(run="mc|mcli cp|mirror|put|pipe|mv", example="mc cp notes.txt play/bucket"),
    _sends(run="bq load|insert", example="bq load d.t notes.csv"),
    _deploys(run="az webapp|containerapp|functionapp|staticwebapp|spring up", example="az webapp up"),
    _deploys(
        run="az functionapp deployment source config-zip",
        example="az functionapp deployment source config-zip --src x",
    ),
    _deploys(run="func azure functionapp publish", example="func azure functionapp publish app"),
    _deploys(run="vercel|now", text="^$", example="vercel"),
    _deploys(
        run="amplify|eas|eas-cli|expo|fastlane push|update|build|submit|publish|deliver|pilot|supply|upload_to_*",
        unless="--local",
        example="amplify push",
    ),
    _sends(run="appcenter distribute|codepush|crashes *", example="appcenter distribute release -f x.apk"),
    _sends(
        run="netlify|netlify-cli|heroku|dotenv-vault env:import|config:push|push",
        example="netlify env:import .env",
    ),
    _sends(
        run=f"{PLATFORMS} secrets|secret|env|variables|config **",
        given="--env-file --env-from-file --from-file --file -f",
        example="supabase secrets set --env-file .env",
    ),
    _sends(
        run="doppler|infisical|chamber|dotenvx secrets|import upload|set|*",
        example="doppler secrets upload .env",
    ),
    _sends(
        run="vault|bao|consul|etcdctl kv|write|put **",
        text=r"(?:^|=)@.",
        example="vault kv put secret/x v=@notes.txt",
    ),
    _sends(
        run="op|bw|lpass document|create|import *",
        text=r"\.\w{1,5}$|/",
        example="op document create notes.txt",
    ),
    _sends(run="linode-cli obj put", example="linode-cli obj put notes.txt bucket"),
    _sends(
        run="restic|borg|duplicity|rdiff-backup|kopia|duplicacy|tarsnap|rustic",
        text=r"(?:^|=)(?:sftp|s3|b2|rest|azure|gs|rclone|swift|ssh|ftps?|scp|rsync|https?)(?::|\+\w+:)|^[\w.-]+@[\w.-]+:",
        unless="-n --dry-run",
        example="restic -r sftp:me@example.com:/r backup .",
    ),
    _sends(
        run="sentry-cli|datadog-ci|bugsnag-cli|rollbar-cli|honeycomb|newrelic ** upload|files|upload-*|upload-dif",
        example="sentry-cli sourcemaps upload dist",
    ),
    _sends(
        run="codecov|codecovcli|coveralls|codeclimate|snyk|fossa|semgrep|sonar-scanner|codacy-coverage-reporter|trufflehog",
        text=r"^(?:-f|upload\S*|do-upload|report|monitor|analyze|ci|publish)$|^--(?:file|upload)\b|^-Dsonar",
        part="deploy",
        example="codecov upload-process -f coverage.xml",
    ),
    _deploys(run="sonar-scanner", example="sonar-scanner"),
    _sends(
        run="databricks|dbfs fs|workspace|cp|import|secrets cp|import|import-dir|import_dir|put|put-secret|*",
        text=r"^dbfs:|^(?:import|import-dir|import_dir|put|put-secret)$",
        example="databricks fs cp notes.txt dbfs:/x",
    ),
    _sends(
        run="snowsql|snow|snowflake",
        text=r"(?i)\bput\s+file:|^(?:stage|object)$",
        example="snowsql -q 'put file://notes.txt @stage'",
    ),
    _sends(
        run="psql|mysql|mariadb",
        given="-h --host",
        value=r"^(?!localhost$|127\.|/|\0)[\w-]+\.[\w.-]+$",
        text=r"(?i)\\copy\b[^\n]{1,300}\bfrom\b|\bload\s+data\s+local\b",
        example=r"psql -h db.example.com -c '\\copy t from notes.csv'",
    ),
    _sends(
        run="llm|aichat|mods|sgpt|fabric|tgpt",
        given="-a --attachment -f --fragment --file",
        example="llm -a notes.txt describe",
    ),
    _sends(
        run="replicate|together|fireworks|cohere|mistral|wandb|comet|clearml-data|neptune|roboflow|label-studio "
        "train*|files|upload|run|create|add|import|sync",
        text=r"\.\w{1,5}$|@|/",
        example="replicate train me/model notes.jsonl",
    ),
    _sends(
        run="ntfy pub|publish|send|trigger",
        given="-f --file --attach",
        example="ntfy pub --file notes.txt topic",
    ),
    _sends(
        run="lp|lpr|lpadmin",
        given="-h -H",
        value=r"^(?!localhost|127\.|/)\w",
        example="lp -h example.com notes.txt",
    ),
    _sends(run="gh|glab ssh-key|gpg-key add", example="gh ssh-key add key"),
    _sends(
        run="oc|kubectl rsync",
        operand=r"^[\w./-]{2,}:",
        which="last",
        part="containers",
        example="oc rsync . pod:/x",
    ),
)
