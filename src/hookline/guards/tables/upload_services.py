"""List commands by which developers upload files to services: forges, clouds, registries and hosts."""

from hookline.guards.spec import GuardedCommand

_SENDS = "sends a file to another machine"
PLATFORMS = (
    "vercel|now|netlify|firebase|fly|flyctl|railway|heroku|wrangler|surge|supabase|amplify|eb|doctl|sls|serverless|"
    "render"
)
_DEPLOYS = "uploads the project to a hosting service"

SERVICES: tuple[GuardedCommand, ...] = (
    GuardedCommand(
        run="aws **",
        does=_SENDS,
        text="(?:^|=)fileb?://",
        example="aws ssm put-parameter --name x --value file://notes.txt",
    ),
    GuardedCommand(
        run="aws **",
        does=_SENDS,
        given="--zip-file --body --template-body --cli-input-json --payload",
        value="^fileb?://",
        example="aws lambda update-function-code --function-name x --zip-file fileb://x.zip",
    ),
    GuardedCommand(
        run="sam|cdk|copilot|chalice|zappa deploy|sync|package",
        does=_DEPLOYS,
        part="deploy",
        example="sam deploy --guided",
    ),
    GuardedCommand(
        run="aws ** deploy|package",
        does=_DEPLOYS,
        part="deploy",
        example="aws cloudformation deploy --template-file x.yml --stack-name x",
    ),
    GuardedCommand(run="gcloud builds submit", does=_SENDS, example="gcloud builds submit ."),
    GuardedCommand(
        run="gcloud ** deploy",
        does=_DEPLOYS,
        part="deploy",
        example="gcloud run deploy x --source .",
    ),
    GuardedCommand(
        run="gcloud ** create|update|add|import|publish|set",
        does=_SENDS,
        given="--data-file --from-file --source --message-file --body-file --file",
        example="gcloud secrets create x --data-file=notes.txt",
    ),
    GuardedCommand(
        run="az ** create|update|deploy|up|set|import|upload|publish",
        does=_SENDS,
        text=r"^@.|^--(?:file|source|src|src-path|body|template-file)\b",
        example="az keyvault secret set --name x --file notes.txt",
    ),
    GuardedCommand(
        run="oci os object put|bulk-upload|sync", does=_SENDS, example="oci os object put --file x -bn b"
    ),
    GuardedCommand(
        run="gh|glab api",
        does=_SENDS,
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
    GuardedCommand(
        run="gh gist edit",
        does="puts files on the web",
        given="-a --add",
        example="gh gist edit 1 -a notes.txt",
    ),
    GuardedCommand(
        run="gh codespace|cs cp",
        does=_SENDS,
        operand="^remote:",
        which="last",
        example="gh codespace cp notes.txt remote:x",
    ),
    GuardedCommand(
        run="hub|tea|jf gist|release|releases|rt create|upload|edit",
        does="puts files on the web",
        text=r"^-a$|^--(?:attach|asset)\b|^gist$",
        example="hub release create -a notes.txt v1",
    ),
    GuardedCommand(
        run="gh|glab secret|variable set",
        does=_SENDS,
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
    GuardedCommand(
        run="gh release create",
        does="puts files on the web",
        operand=r"/|\.\w+$|#",
        which="last",
        spare=r"^v?\d",
        example="gh release create v1 dist/app.zip",
    ),
    GuardedCommand(
        run="glab snippet create|new",
        does="puts files on the web",
        example="glab snippet create notes.txt",
    ),
    GuardedCommand(
        run="glab release upload|create",
        does="puts files on the web",
        operand=r"/|\.\w+$",
        spare=r"^v?\d",
        example="glab release upload v1 dump.sql",
    ),
    GuardedCommand(run="rclone serve", does="offers files to other machines", example="rclone serve http ."),
    GuardedCommand(
        run="rclone copy|copyto|sync|move|moveto|bisync|rcat|rcp|serve",
        does=_SENDS,
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
    GuardedCommand(
        run="ipfs add|dag|block|files", does="puts files on the web", example="ipfs add notes.txt"
    ),
    GuardedCommand(
        run=f"{PLATFORMS} deploy|up|publish|release|--prod|container:push|builds:create|hosting:channel:deploy",
        does=_DEPLOYS,
        unless="--dry-run",
        part="deploy",
        example="vercel deploy --prod",
    ),
    GuardedCommand(
        run="wrangler|supabase|firebase|doctl pages|functions|serverless|versions|app deploy|upload|publish",
        does=_DEPLOYS,
        unless="--dry-run",
        part="deploy",
        example="wrangler pages deploy .",
    ),
    GuardedCommand(
        run="wrangler|supabase|netlify kv|r2|storage|blobs|d1|secret key|object|put|cp|bulk|set|execute|secret",
        does=_SENDS,
        given="--path -f --file",
        example="wrangler kv key put --binding=x k --path notes.txt",
    ),
    GuardedCommand(
        run="wrangler secret|secret:bulk bulk", does=_SENDS, example="wrangler secret bulk secrets.json"
    ),
    GuardedCommand(
        run="supabase db push",
        does="changes the database of a service",
        part="deploy",
        example="supabase db push",
    ),
    GuardedCommand(run="wrangler r2 object put", does=_SENDS, example="wrangler r2 object put b/k --pipe"),
    GuardedCommand(
        run="supabase storage cp|mv",
        does=_SENDS,
        operand="^ss://",
        which="last",
        example="supabase storage cp notes.txt ss:///b/n",
    ),
    GuardedCommand(
        run="vercel|now",
        does=_DEPLOYS,
        given="--prod --prebuilt",
        part="deploy",
        example="vercel --prod",
    ),
    GuardedCommand(
        run="vercel|now|surge",
        does=_DEPLOYS,
        operand=r"^[./]",
        which="first",
        part="deploy",
        example="surge ./dist example.surge.sh",
    ),
    GuardedCommand(
        run="hf|huggingface-cli upload|upload-large-folder|repo-files",
        does="puts files on the web",
        example="hf upload me/x notes.txt",
    ),
    GuardedCommand(
        run="kaggle datasets|kernels|models|competitions|d|k|m|c create|version|push|submit|instances",
        does="puts files on the web",
        example="kaggle datasets create -p .",
    ),
    GuardedCommand(run="wandb artifact put", does=_SENDS, example="wandb artifact put notes.txt"),
    GuardedCommand(
        run="mlflow artifacts log-artifact|log-artifacts",
        does=_SENDS,
        example="mlflow artifacts log-artifact --local-file notes.txt --run-id 1",
    ),
    GuardedCommand(run="modal volume|nfs put", does=_SENDS, example="modal volume put v notes.txt"),
    GuardedCommand(run="dvc push", does=_SENDS, example="dvc push"),
    GuardedCommand(run="wandb sync", does=_SENDS, example="wandb sync runs"),
    GuardedCommand(
        run="jf|jfrog rt|c upload|u|build-publish|docker-push|terraform-publish",
        does=_SENDS,
        example="jf rt upload notes.txt repo/",
    ),
    GuardedCommand(
        run="svn|hg|bzr|fossil|cvs import|commit|ci|push",
        does=_SENDS,
        text=r"^(?!file:)[a-z+]+://",
        example="svn import notes.txt http://example.com/svn -m x",
    ),
    GuardedCommand(
        run="pastebinit|wgetpaste|fpaste|haste|sprunge|gist|wput|cadaver|megaput|mega-put|gdrive|transfer|transfer.sh|0x0",
        does="puts files on the web",
        example="pastebinit notes.txt",
    ),
    GuardedCommand(
        run="slackcat|telegram-send|slack|discord.sh|salt-cp",
        does=_SENDS,
        text=r"^--?(?:f|file|image|video|upload)$|\.\w{1,5}$|/",
        example="telegram-send --file notes.txt",
    ),
    GuardedCommand(
        run="mosquitto_pub|kcat|kafkacat|mongoimport|mongorestore|influx",
        does=_SENDS,
        text=r"^-(?:f|l|P)$|^--file\\b|\.\w{1,5}$",
        given="-h --host -b --uri",
        value=r"^(?:\w+://)?(?!localhost|127\.)[\w-]+\.[\w.-]",
        example="mosquitto_pub -h example.com -t x -f notes.txt",
    ),
    GuardedCommand(
        run="openai|anthropic|replicate|modal files|api|file create|upload|files.create",
        does=_SENDS,
        given="-f --file",
        example="openai api files.create -f notes.txt -p fine-tune",
    ),
    GuardedCommand(
        run="ansible|ansible-console",
        does=_SENDS,
        given="-m --module-name",
        value="^(?:ansible\\.builtin\\.)?(?:copy|template|unarchive|script|synchronize)$",
        example="ansible all -m copy -a 'src=notes.txt dest=/x'",
    ),
    GuardedCommand(
        run="gio copy|move|save",
        does=_SENDS,
        operand=r"^(?!file:)[a-z][\w+-]{1,20}://",
        which="last",
        example="gio copy notes.txt sftp://example.com/x",
    ),
    GuardedCommand(
        run="swift|openstack|ibmcloud|s4cmd|tailscale|doctl upload|object|cos|put|file|spaces|cp|create|cp|sync|*",
        does=_SENDS,
        text=r"^(?:upload|create|put|cp|sync|object-put)$",
        example="swift upload container notes.txt",
    ),
    GuardedCommand(run="mc|mcli cp|mirror|put|pipe|mv", does=_SENDS, example="mc cp notes.txt play/bucket"),
)
