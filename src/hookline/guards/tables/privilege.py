"""Guard against getting more rights than the agent has."""

from hookline.guards.spec import GuardedCommand, GuardSpec

_AS_ROOT = "runs with the rights of another user"
_ACCOUNTS = "changes who may do what on this machine"
_GRANTS = "changes who may do what in a cluster or a cloud"
_ROOT_IN_CONTAINER = "gives a container the rights of the machine it runs on"
#: Capabilities with which a container can take over the machine.
_CAPABILITIES = r"^(?:CAP_)?(?:ALL|SYS_ADMIN|SYS_PTRACE|SYS_MODULE|SYS_RAWIO|DAC_READ_SEARCH|NET_ADMIN)$"
_MOUNTS = r"^(?:/|/etc|/root(?:/[^:]*)?|/home|/proc|/sys|/boot)/?:|(?:source|src)=/(?:,|$)|docker\.sock"

PRIVILEGE = GuardSpec(
    name="privilege",
    title="Getting more rights: sudo, setuid, accounts, privileged containers",
    instead="Do it without those rights, or tell the user which command to run.",
    rows=(
        GuardedCommand(
            run="sudo|doas|pkexec|run0|sudoedit|gsudo|please|dzdo|pfexec",
            does=_AS_ROOT,
            example="sudo apt-get install jq",
        ),
        GuardedCommand(
            run="su|runuser|setpriv|gosu|su-exec|machinectl shell", does=_AS_ROOT, example="su -c 'id' root"
        ),
        GuardedCommand(
            run="su|runuser|setpriv|gosu|su-exec",
            does=_AS_ROOT,
            unless="--version --help -h -V",
            example="su - postgres",
        ),
        GuardedCommand(
            run="chmod|gchmod",
            does="makes a program run with the rights of its owner",
            operand=r"^(?:g*[uao][ugoa]*)?[+=][rwxXt]*s|^0?[4-7][0-7]{3}$",
            example="chmod u+s /usr/bin/vim",
        ),
        GuardedCommand(
            run="install|ginstall",
            does="makes a program run with the rights of its owner",
            given="-m --mode",
            value=r"^0?[4-7][0-7]{3}$|s",
            example="install -m 4755 tool /usr/local/bin",
        ),
        GuardedCommand(
            run="setcap",
            does="gives a program administrator rights",
            example="setcap cap_net_admin+ep tool",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl run|create|exec",
            does=_ROOT_IN_CONTAINER,
            given="--privileged",
            example="docker run --privileged -it ubuntu bash",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl run|create",
            does="gives a container the files of the whole machine",
            given="-v --volume --mount",
            value=_MOUNTS,
            example="docker run -v /:/host ubuntu chroot /host",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl run|create",
            does=_ROOT_IN_CONTAINER,
            given="--cap-add",
            value=_CAPABILITIES,
            example="docker run --cap-add=SYS_ADMIN ubuntu",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl run|create",
            does=_ROOT_IN_CONTAINER,
            given="--pid --userns --ipc --uts",
            value="^host$",
            example="docker run --pid=host ubuntu",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl run|create",
            does=_ROOT_IN_CONTAINER,
            given="--security-opt",
            value="unconfined|disable",
            example="docker run --security-opt seccomp=unconfined ubuntu",
        ),
        GuardedCommand(
            run="docker|podman|nerdctl run|create",
            does="gives a container a disk of this machine",
            given="--device",
            value=r"^/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|dm-|mapper/|disk/|mem$|kmem$)",
            example="docker run --device /dev/sda ubuntu",
        ),
        GuardedCommand(
            run="kubectl|oc debug",
            does="opens a shell with all rights on a machine of the cluster",
            operand="^nodes?/",
            example="kubectl debug node/web-1 -it --image=ubuntu",
        ),
        GuardedCommand(
            run="kubectl|oc run",
            does=_ROOT_IN_CONTAINER,
            given="--privileged",
            example="kubectl run x --privileged",
        ),
        GuardedCommand(run="sg|newgrp|runas", does=_AS_ROOT, example="sg docker 'docker ps'"),
        GuardedCommand(run="nsenter|chroot|systemd-run|capsh", does=_AS_ROOT, example="nsenter -t 1 -m sh"),
        GuardedCommand(
            run="usermod|useradd|adduser|userdel|deluser|groupadd|groupmod|gpasswd|passwd|chpasswd|chage|vipw|newusers",
            does=_ACCOUNTS,
            example="usermod -aG docker ada",
        ),
        GuardedCommand(
            run="visudo|dscl|dseditgroup|sysadminctl", does=_ACCOUNTS, example="visudo -f /etc/sudoers.d/me"
        ),
        GuardedCommand(
            run="osascript",
            does=_AS_ROOT,
            text="administrator privileges",
            example="osascript -e 'do shell script \"id\" with administrator privileges'",
        ),
        GuardedCommand(
            run="kubectl|oc create|adm clusterrolebinding|policy",
            does=_GRANTS,
            text=r"cluster-?admin",
            example="kubectl create clusterrolebinding me --clusterrole=cluster-admin --user=me",
        ),
        GuardedCommand(
            run="aws iam attach-*-policy|put-*-policy|create-access-key|add-user-to-group|update-assume-role-policy",
            does=_GRANTS,
            example="aws iam attach-user-policy --user-name me --policy-arn $ADMIN",
        ),
        GuardedCommand(
            run="gcloud ** add-iam-policy-binding|set-iam-policy",
            does=_GRANTS,
            example="gcloud projects add-iam-policy-binding app --member=user:me --role=roles/owner",
        ),
        GuardedCommand(
            run="az role assignment create",
            does=_GRANTS,
            example="az role assignment create --role Owner --assignee me",
        ),
    ),
    written=r"^/etc/(?:sudoers|passwd|shadow|gshadow|group|pam\.d|doas\.conf|polkit-1)(?:/|\.d/|-|$)|^/etc/sudoers\.d",
    written_does=_ACCOUNTS,
    code=r"\bos\.set(?:e?uid|gid|resuid)\(\s*0|chmod\([^\n]{0,100}?0o?4[0-7]{3}",
    started=r"\bstart-process\b[^\n]{0,200}\brunas\b|\bnet1?\s+(?:user|localgroup)\b[^\n;|]{0,200}\s/add\b|"
    r"\b(?:new-localuser|add-localgroupmember)\b|['\"\s(]sudo['\"\s]|\bpkexec\b",
    code_does="looks like code that gets more rights",
    catches=(
        "cd /srv && sudo -n true",
        "echo 'me ALL=(ALL) ALL' > /etc/sudoers.d/me",
        "chmod 4755 tool",
        "xargs sudo rm",
        "docker run --rm -v /var/run/docker.sock:/var/run/docker.sock alpine",
    ),
    leaves=("chmod +x run.sh", "chmod 755 run.sh", "docker run -v $PWD:/app node npm test", "id", "man sudo"),
    cannot=("Rights that the agent has already, and services that act for it (a database, a CI system).",),
)
