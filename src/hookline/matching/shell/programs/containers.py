"""Containers and clusters: commands that run inside them."""

from hookline.matching.shell.programs.row import Row

_DOCKER = (
    "-H: -c: -D -l: --host: --context: --config: --log-level: --tls --tlscacert: --tlscert: "
    "--tlskey: --tlsverify --url: --connection: --root: --runroot:"
)
_RUN = (
    "-i -t -d -P -q --rm --interactive --tty --detach --init --privileged --read-only "
    "--publish-all --no-healthcheck --quiet "
    "--oom-kill-disable --sig-proxy -a: -c: -e: -h: -l: -m: -p: -u: -v: -w: --add-host: "
    "--annotation: --attach: --blkio-weight: --cap-add: "
    "--cap-drop: --cgroup-parent: --cgroupns: --cidfile: --cpu-period: --cpu-quota: "
    "--cpu-shares: --cpus: --cpuset-cpus: "
    "--cpuset-mems: --detach-keys: --device: --device-cgroup-rule: --dns: --dns-option: "
    "--dns-search: --domainname: --env: "
    "--env-file: --expose: --gpus: --group-add: --health-interval: --health-retries: --health-timeout: "
    "--hostname: --ip: --ip6: --ipc: --isolation: --kernel-memory: --label: --label-file: "
    "--link: --log-driver: --log-opt: "
    "--mac-address: --memory: --memory-reservation: --memory-swap: --mount: --name: --net: "
    "--network: --network-alias: "
    "--oom-score-adj: --pid: --pids-limit: --platform: --publish: --pull: --restart: --runtime: "
    "--security-opt: --shm-size: "
    "--stop-signal: --stop-timeout: --storage-opt: --sysctl: --tmpfs: --ulimit: --user: "
    "--userns: --uts: --volume: "
    "--volume-driver: --volumes-from: --workdir: -T --no-TTY --no-deps --service-ports "
    "--use-aliases --index: --userns:"
)
_KUBECTL = (
    "-n: -s: -v: --namespace: --context: --cluster: --kubeconfig: --server: --user: --token: "
    "--as: --request-timeout: "
    "--certificate-authority: --insecure-skip-tls-verify"
)

ROWS = (
    Row("docker, podman, nerdctl, finch", "works with containers", _DOCKER, style="posix", examples=()),
    Row(
        "docker container, docker compose, docker buildx, docker builder, podman container, podman "
        "compose, nerdctl compose",
        "works with containers",
        "-f: -p: --file: --project-name: --profile: --env-file: --project-directory: --ansi:",
        style="posix",
        examples=(),
    ),
    Row(
        "docker-compose, podman-compose",
        "works with containers",
        "-f: -p: -H: --file: --project-name: --profile: --env-file: --project-directory:",
        style="posix",
    ),
    Row(
        "docker run, docker exec, docker create, podman run, podman exec, podman create, nerdctl "
        "run, nerdctl exec, docker container run, "
        "docker container exec, docker container create, podman container run, podman container "
        "exec, docker compose run, "
        "docker compose exec, docker-compose run, docker-compose exec, podman compose run, "
        "podman compose exec, "
        "podman-compose run, podman-compose exec, nerdctl compose run, nerdctl compose exec, "
        "finch run, finch exec",
        "runs a command in a container",
        _RUN,
        {"program": "--entrypoint:", "line": "--health-cmd:"},
        style="posix",
        command=1,
        examples=(),
    ),
    Row(
        "docker build, docker buildx build, podman build, buildah, buildah bud",
        "builds an image",
        "-t: -f: --tag: --file: --build-arg: --target: --platform:",
        {"written": "-o: --output: --iidfile: --metadata-file:"},
        stdin="",
    ),
    Row("buildah run, buildah config", "runs a command in a container", loose=()),
    Row(
        "kubectl, oc, k3s kubectl, minikube kubectl, microk8s kubectl, k",
        "works with a cluster",
        _KUBECTL,
        style="posix",
    ),
    Row("k3s, minikube, microk8s", "works with a cluster", style="posix", loose=("ssh",)),
    Row(
        "kubectl exec, oc exec, oc rsh, k exec, kubectl debug, oc debug, kubectl run, oc run, k run",
        "runs a command in a cluster",
        f"{_KUBECTL} -i -t -q -c: -f: -l: --stdin --tty --container: --image: --restart: --rm --attach "
        "--command --env: --labels: --overrides: "
        "--port: --pod-running-timeout: --image-pull-policy: --expose --target: --copy-to: "
        "--share-processes --quiet --filename: "
        "--dry-run: -o: --output: --profile: -it -ti --timeout: --replace --same-node --keep-labels:",
        command=1,
        examples=(),
    ),
    Row("kubectl edit, oc edit, k edit", "changes an object by an editor", always=True),
    Row("kubectl config, oc config, kubectl plugin, kubectl krew", "changes what kubectl runs", always=True),
    Row(
        "helm",
        "works with packages of a cluster",
        "-n: --namespace: --kube-context: --kubeconfig:",
        {"program": "--post-renderer:"},
        examples=(),
    ),
    Row("helm plugin", "runs programs", always=True),
    Row(
        "helm install, helm upgrade, helm template",
        "works with packages of a cluster",
        "-n: -f: --values: --set: --namespace: --version:",
        {"program": "--post-renderer:"},
        examples=(),
    ),
    Row(
        "crictl, ctr, ctr task, ctr tasks, runc, crun, apptainer, singularity, udocker, enroot, "
        "toolbox, distrobox, distrobox-enter",
        "works with containers",
        style="posix",
        loose=("exec", "run", "enter", "shell", "start", "--"),
    ),
    Row(
        "systemd-run",
        "runs a command as a service",
        "-r -d -G -P -q -t -S -u: -p: -M: -H: -E: --scope --user --system --wait --pipe --pty "
        "--collect --quiet --shell --no-block --no-ask-password --unit: "
        "--property: --description: --slice: --uid: --gid: --nice: --setenv: "
        "--working-directory: --same-dir --service-type: --on-active: "
        "--on-calendar: --on-boot: --on-unit-active: --timer-property: --remain-after-exit "
        "--send-sighup --machine: --host:",
        style="posix",
        command=0,
        examples=(),
    ),
    Row(
        "systemctl",
        "works with services",
        "-H: -M: -t: -p: -n: -o: --user --now --no-pager --system",
        style="posix",
    ),
    Row("systemctl edit, systemctl link, systemctl set-environment", "changes services", always=True),
    Row(
        "terraform, tofu, terragrunt, pulumi, packer", "works with infrastructure", style="posix", examples=()
    ),
    Row(
        "kubectl get, kubectl describe, kubectl logs, kubectl top, kubectl explain, oc get, oc "
        "describe, oc logs, k get, k describe, k logs",
        "shows what is in a cluster",
        "-n: -o: -l: -A -w -f -p -c: --namespace: --output: --selector: --context: "
        "--all-namespaces --watch --tail: "
        "--since: --container: --follow --previous --show-labels --sort-by: --field-selector: "
        "--no-headers --raw: --request-timeout:",
        {
            "settings": "--kubeconfig: --cache-dir: -s: --server: --token: --as: --user: "
            "--certificate-authority: --client-key: --profile-output:"
        },
    ),
)
