"""Containers and clusters: commands that run inside them."""

from hookline.matching.shell.programs.row import Program

_DOCKER = "-D -l: -v --debug --log-level: --tls --tlscacert: --tlscert: --tlskey: --tlsverify --root: "
"--runroot: --remote"
#: Another machine or another folder of settings, which may name programs.
_DOCKER_VALUES = {"beyond": "-H: -c: --host: --context: --config: --url: --connection:"}
_RUN = (
    "-i -t -d -P -q --rm --interactive --tty --detach --init --privileged --read-only "
    "--publish-all --no-healthcheck --quiet "
    "--oom-kill-disable --sig-proxy -a: -c: -e: -h: -l: -m: -p: -u: -w: --add-host: "
    "--annotation: --attach: --blkio-weight: --cap-add: "
    "--cap-drop: --cgroup-parent: --cgroupns: --cpu-period: --cpu-quota: "
    "--cpu-shares: --cpus: --cpuset-cpus: "
    "--cpuset-mems: --detach-keys: --device: --device-cgroup-rule: --dns: --dns-option: "
    "--dns-search: --domainname: --env: "
    "--env-file: --expose: --gpus: --group-add: --health-interval: --health-retries: --health-timeout: "
    "--hostname: --ip: --ip6: --ipc: --isolation: --kernel-memory: --label: --label-file: "
    "--link: --log-driver: --log-opt: "
    "--mac-address: --memory: --memory-reservation: --memory-swap: --name: --net: "
    "--network: --network-alias: "
    "--oom-score-adj: --pid: --pids-limit: --platform: --publish: --pull: --restart: --runtime: "
    "--security-opt: --shm-size: "
    "--stop-signal: --stop-timeout: --storage-opt: --sysctl: --tmpfs: --ulimit: --user: "
    "--userns: --uts: "
    "--volume-driver: --volumes-from: --workdir: -T --no-TTY --no-deps --service-ports "
    "--use-aliases --index: --userns:"
)
_KUBECTL = (
    "-n: -v: --namespace: --context: --cluster: --request-timeout: --insecure-skip-tls-verify --as-group: --as-uid: "
    "--disable-compression --log-flush-frequency: --match-server-version --tls-server-name: --v: --vmodule: "
    "--warnings-as-errors --profile:"
)
#: Options of all sub-commands of kubectl: another cluster, or settings that may name a program for its keys.
_KUBECTL_VALUES = {
    "settings": "--kubeconfig: -s: --server: --token: --as: --user: --username: --password: --certificate-authority: "
    "--client-key: --client-certificate:",
    "output": "--cache-dir: --profile-output: --output-directory:",
    "beyond": "--helm-command: --enable-helm --enable-exec --enable-alpha-plugins --edit",
}

ROWS = (
    Program(
        "docker, podman, nerdctl, finch",
        "works with containers",
        _DOCKER,
        _DOCKER_VALUES,
        style="posix",
        examples=(),
    ),
    Program("docker image, podman image", "works with images", style="posix"),
    Program(
        "docker save, docker export, docker image save, docker container export, podman save, podman "
        "export, podman image save",
        "writes an image to a file",
        "--platform: -q --format: -m",
        {"output": "-o: --output:"},
    ),
    Program(
        "docker cp, docker container cp, podman cp, podman container cp, docker compose cp, nerdctl cp",
        "copies files from and to a container",
        "-a -L -q --archive --follow-link --quiet --index:",
        others="copied",
    ),
    Program("docker context, docker plugin, docker trust", "changes what docker runs", always=True),
    Program(
        "docker container, docker compose, docker buildx, docker builder, podman container, podman "
        "compose, nerdctl compose",
        "works with containers",
        "-p: --project-name: --profile: --ansi: --progress: --parallel: --dry-run --compatibility "
        "--all-resources --builder:",
        {"place": "-f: --file: --env-file: --project-directory:"},
        style="posix",
        examples=(),
    ),
    Program(
        "docker-compose, podman-compose",
        "works with containers",
        "-p: --project-name: --profile: --ansi: --verbose --no-ansi",
        {"place": "-f: --file: --env-file: --project-directory:", "beyond": "-H: --host: -c: --context:"},
        style="posix",
    ),
    Program(
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
        {
            "program": "--entrypoint:",
            "line": "--health-cmd:",
            "mount": "-v: --volume: --mount:",
            "output": "--cidfile:",
        },
        style="posix",
        command=1,
        examples=(),
    ),
    Program(
        "docker build, docker buildx build, podman build, buildah, buildah bud",
        "builds an image",
        "-t: -f: --tag: --file: --build-arg: --target: --platform:",
        {"written": "-o: --output:", "output": "--iidfile: --metadata-file:"},
        stdin="",
    ),
    Program("buildah run, buildah config", "runs a command in a container", loose=()),
    Program(
        "kubectl, oc, k3s kubectl, minikube kubectl, microk8s kubectl, k",
        "works with a cluster",
        _KUBECTL,
        _KUBECTL_VALUES,
        style="posix",
    ),
    Program(
        "kubectl *, oc *, k *",
        "works with a cluster",
        f"{_KUBECTL} -f: -k: -o: -l: -c: -p: --output: --selector: --filename: --container: --timeout: "
        "--field-selector: "
        "--replicas: --type: --patch: --from-literal: --dry-run:: --for:",
        _KUBECTL_VALUES,
    ),
    Program(
        "kubectl kustomize, oc kustomize",
        "builds objects",
        _KUBECTL,
        {**_KUBECTL_VALUES, "output": _KUBECTL_VALUES["output"] + " -o: --output:"},
    ),
    Program(
        "kubectl cp, oc cp, k cp, oc rsync",
        "copies files from and to a pod",
        f"{_KUBECTL} -c: --container: --no-preserve --retries:",
        _KUBECTL_VALUES,
        others="copied",
    ),
    Program("k3s, minikube, microk8s", "works with a cluster", style="posix", loose=("ssh",)),
    Program(
        "kubectl exec, oc exec, oc rsh, k exec, kubectl debug, oc debug, kubectl run, oc run, k run",
        "runs a command in a cluster",
        f"{_KUBECTL} -i -t -q -c: -f: -l: --stdin --tty --container: --image: --restart: --rm --attach "
        "--command --env: --labels: --overrides: "
        "--port: --pod-running-timeout: --image-pull-policy: --expose --target: --copy-to: "
        "--share-processes --quiet --filename: "
        "--dry-run: -o: --output: -it -ti --timeout: --replace --same-node --keep-labels:",
        _KUBECTL_VALUES,
        command=1,
        examples=(),
    ),
    Program("kubectl edit, oc edit, k edit", "changes an object by an editor", always=True),
    Program(
        "kubectl config, oc config, kubectl plugin, kubectl krew", "changes what kubectl runs", always=True
    ),
    Program(
        "helm",
        "works with packages of a cluster",
        "-n: --namespace: --kube-context: --kubeconfig:",
        {"program": "--post-renderer:"},
        examples=(),
    ),
    Program("helm plugin", "runs programs", always=True),
    Program(
        "helm install, helm upgrade, helm template",
        "works with packages of a cluster",
        "-n: -f: --values: --set: --namespace: --version:",
        {"program": "--post-renderer:"},
        examples=(),
    ),
    Program(
        "crictl, ctr, ctr task, ctr tasks, runc, crun, apptainer, singularity, udocker, enroot, "
        "toolbox, distrobox, distrobox-enter",
        "works with containers",
        style="posix",
        loose=("exec", "run", "enter", "shell", "start", "--"),
    ),
    Program(
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
    Program(
        "systemctl",
        "works with services",
        "-H: -M: -t: -p: -n: -o: --user --now --no-pager --system",
        style="posix",
    ),
    Program("systemctl edit, systemctl link, systemctl set-environment", "changes services", always=True),
    Program(
        "terraform, tofu, terragrunt, pulumi, packer", "works with infrastructure", style="posix", examples=()
    ),
    Program(
        "kubectl get, kubectl describe, kubectl logs, kubectl top, kubectl explain, oc get, oc "
        "describe, oc logs, k get, k describe, k logs",
        "shows what is in a cluster",
        f"{_KUBECTL} -o: -l: -A -w -f -p -c: --output: --selector: "
        "--all-namespaces --watch --tail: "
        "--since: --container: --follow --previous --show-labels --sort-by: --field-selector: "
        "--no-headers --raw:",
        _KUBECTL_VALUES,
    ),
)
