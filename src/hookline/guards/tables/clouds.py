"""Guard against deleting in clouds, clusters and volumes."""

from hookline.guards.spec import GuardedCommand, GuardSpec

_DELETES = "deletes something that runs or is stored in a cloud"
_PODS = r"^(?:po|pods?|jobs?|events?|ev)(?:/|$)"
_VOLUMES = "deletes volumes with the data in them"

CLOUD_DELETE = GuardSpec(
    name="cloud-delete",
    title="Deleting what runs or is stored in a cloud, a cluster or a volume",
    instead="Show the user what would be deleted (plan, list, --dry-run).",
    rows=(
        GuardedCommand(
            run="terraform|tf|tofu|terragrunt destroy",
            does=_DELETES,
            example="terraform destroy -auto-approve",
        ),
        GuardedCommand(
            run="terraform|tf|tofu|terragrunt apply",
            does=_DELETES,
            given="-destroy --destroy",
            example="terraform apply -destroy",
        ),
        GuardedCommand(
            run="terraform|tf|tofu|terragrunt run-all|run|state|workspace destroy|rm|delete",
            does=_DELETES,
            example="terraform state rm aws_instance.web",
        ),
        GuardedCommand(
            run="pulumi destroy|down|stack",
            does=_DELETES,
            text=r"\bdestroy\b|\bdown\b|\bstack rm\b",
            example="pulumi destroy --yes",
        ),
        GuardedCommand(run="cdk|cdktf|sst destroy|remove", does=_DELETES, example="cdk destroy --all"),
        GuardedCommand(run="serverless|sls remove", does=_DELETES, example="serverless remove --stage prod"),
        GuardedCommand(
            run="sam|copilot|eb|eksctl|kops|ecs-cli ** delete|terminate",
            does=_DELETES,
            example="eksctl delete cluster --name prod",
        ),
        GuardedCommand(
            run=(
                "aws * "
                "delete-*|terminate-*|deregister-*|purge-*|destroy-*|remove-*|batch-delete-*|cancel-*|release-*|schedule-key-deletion|empty-*"
            ),
            does=_DELETES,
            unless="--dry-run --generate-cli-skeleton",
            example="aws ec2 terminate-instances --instance-ids i-1",
        ),
        GuardedCommand(
            run="aws s3 rb|rm", does=_DELETES, unless="--dryrun", example="aws s3 rb s3://bucket --force"
        ),
        GuardedCommand(
            run="aws s3 sync",
            does=_DELETES,
            given="--delete",
            unless="--dryrun",
            example="aws s3 sync . s3://bucket --delete",
        ),
        GuardedCommand(
            run=(
                "gcloud|az|ibmcloud|oci|doctl|hcloud|scw|openstack|linode-cli|aliyun|tccli ** "
                "delete|purge|terminate|rm|destroy|delete-*"
            ),
            does=_DELETES,
            example="gcloud compute instances delete web --quiet",
        ),
        GuardedCommand(run="gsutil rm|rb", does=_DELETES, example="gsutil -m rm -r gs://bucket"),
        GuardedCommand(
            run="s3cmd|mc|rclone rb|rm|del|delete|purge|deletefile",
            does=_DELETES,
            unless="-n --dry-run",
            example="rclone purge remote:backups",
        ),
        GuardedCommand(
            run="kubectl|oc|k delete|del",
            does="deletes something in a cluster",
            operand=f"^(?!{_PODS[1:]})",
            which="first",
            unless="--dry-run",
            example="kubectl delete ns prod",
        ),
        GuardedCommand(
            run="kubectl|oc|k delete|del",
            does="deletes something in a cluster",
            given="--all -A --all-namespaces -f --filename -k --kustomize -l --selector",
            unless="--dry-run",
            example="kubectl delete -f k8s/",
        ),
        GuardedCommand(
            run="kubectl|oc|k delete|del",
            does="deletes pods or jobs of a cluster",
            operand=_PODS,
            which="first",
            part="pods",
            unless="--dry-run",
            example="kubectl delete pod web-1",
        ),
        GuardedCommand(
            run="kubectl|oc|k drain|replace",
            does="removes what runs on a node, or replaces it",
            given="--force --delete-emptydir-data",
            example="kubectl drain node-1 --force",
        ),
        GuardedCommand(
            run="helm|helmfile uninstall|delete|del|un|destroy",
            does="deletes an installation in a cluster",
            unless="--dry-run",
            example="helm uninstall web",
        ),
        GuardedCommand(
            run="argocd|flux ** delete|rm|uninstall",
            does="deletes an installation in a cluster",
            example="argocd app delete web",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl volume rm|prune|remove",
            does=_VOLUMES,
            example="docker volume rm db-data",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl system prune|reset",
            does="deletes containers, images and volumes that are not in use",
            example="docker system prune -af --volumes",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl compose down|rm",
            does=_VOLUMES,
            given="-v --volumes",
            example="docker compose down -v",
        ),
        GuardedCommand(
            run="docker-compose|podman-compose down|rm",
            does=_VOLUMES,
            given="-v --volumes",
            example="docker-compose down --volumes",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl rm",
            does=_VOLUMES,
            given="-v --volumes",
            example="docker rm -fv db",
        ),
        GuardedCommand(
            run="docker stack|service rm|remove|down",
            does="deletes something in a cluster",
            example="docker stack rm web",
        ),
        GuardedCommand(
            run="npm|pnpm|yarn unpublish",
            does="removes a package from its registry",
            unless="--dry-run",
            example="npm unpublish app --force",
        ),
        GuardedCommand(
            run="curl|http|xh",
            does=_DELETES,
            given="-X --request",
            value="^DELETE$",
            operand=(
                r"^https://(?:[\w.-]+\.)?(?:api\.(?:cloudflare|digitalocean|linode|vultr|heroku|vercel|netlify|github)\.com|"
                r"api\.hetzner\.cloud|api\.machines\.dev|management\.azure\.com|googleapis\.com|amazonaws\.com)"
            ),
            example="curl -X DELETE https://api.digitalocean.com/v2/droplets/1",
        ),
        GuardedCommand(
            run="gh|glab repo|release|secret|variable|run|cache|codespace|workflow delete|archive",
            does="deletes something on a code host",
            example="gh repo delete owner/app --yes",
        ),
        GuardedCommand(
            run="gh|glab api",
            does="deletes something on a code host",
            given="-X --method",
            value="^DELETE$",
            example="gh api -X DELETE repos/owner/app",
        ),
        GuardedCommand(
            run="heroku apps:destroy|destroy|addons:destroy|apps:delete",
            does=_DELETES,
            example="heroku apps:destroy -a web",
        ),
        GuardedCommand(run="fly|flyctl ** destroy|delete|rm", does=_DELETES, example="fly apps destroy web"),
        GuardedCommand(
            run=(
                "vercel|netlify|railway|wrangler|render|surge|now ** "
                "remove|rm|delete|sites:delete|teardown|down|destroy"
            ),
            does=_DELETES,
            example="vercel remove web --yes",
        ),
        GuardedCommand(
            run="firebase firestore:delete|database:remove|functions:delete|hosting:disable|apps:delete",
            does=_DELETES,
            example="firebase firestore:delete --all-collections",
        ),
        GuardedCommand(run="cf delete|delete-*|purge-*", does=_DELETES, example="cf delete web -f"),
        GuardedCommand(
            run="nomad|consul|etcdctl|vault ** delete|del|purge|destroy|secrets",
            does=_DELETES,
            text=r"\b(?:delete|del|purge|destroy|disable)\b",
            example="etcdctl del --prefix /app",
        ),
        GuardedCommand(
            run="nomad job stop", does=_DELETES, given="-purge", example="nomad job stop -purge web"
        ),
        GuardedCommand(run="nomad stop", does=_DELETES, given="-purge", example="nomad stop -purge web"),
        GuardedCommand(
            run="minikube|kind|k3d|vagrant|multipass|colima|lima|limactl delete|destroy|purge",
            does="deletes a machine or a cluster on this computer",
            part="local",
            example="minikube delete",
        ),
    ),
    code=r"\.(?:delete|terminate)_(?:bucket|instances|stack|db_instance|table|cluster|object|objects|function|queue|volume|snapshot|user|role)\w*\(|\bforce_destroy\b|"
    r"\.objects\.all\(\)\.delete\(\)|\bremove-(?:az|ec2|s3|rds|ddb|eks|ecs|gce)\w+",
    code_does="looks like code that deletes something in a cloud",
    parts={"pods": "`kubectl delete pod` and jobs, of which many come back by themselves"},
    more={
        "local": "clusters and machines on this computer: minikube, kind, vagrant",
    },
    catches=(
        "AWS_PROFILE=prod aws --region eu-west-1 rds delete-db-instance --db-instance-identifier app",
        "kubectl -n prod delete deploy/web",
        "tofu -chdir=infra destroy",
    ),
    leaves=(
        "terraform plan",
        "terraform plan -destroy",
        "aws s3 ls",
        "kubectl get pods",
        "docker compose down",
        "kubectl delete pod web-1 --dry-run=client",
        "docker rm old",
    ),
    cannot=(
        "What a plan deletes that is applied without being asked to destroy: `terraform apply`.",
        "Web consoles and programs of the project.",
    ),
)
