"""Guard against deleting on this machine: directories with all their contents, and disks."""

from hookline.guards.spec import Flow, GuardedCommand, GuardSpec

_DIRECTORIES = "deletes a directory and everything in it"
_FINDS = "deletes everything it finds, in all directories below"
#: Directories that a build or a package manager makes again, in the project: `..` and absolute paths are not spared.
_REBUILT = (
    r"^(?:\./)?(?:(?!\.\.?/)[\w.@-]+/){0,9}(?:node_modules|dist|build|out|target|coverage|htmlcov|venv|__pycache__|"
    r"\.(?:venv|tox|nox|next|nuxt|turbo|cache|parcel-cache|gradle|eggs|pytest_cache|mypy_cache|ruff_cache|coverage)|"
    r"[\w.-]{1,100}\.egg-info)/?$"
)

DELETE_RECURSIVE = GuardSpec(
    name="delete-recursive",
    title="Deleting directories and everything in them",
    instead="Delete single files, move the directory aside, or ask the user.",
    rows=(
        GuardedCommand(
            run="rm|grm|srm|zf_rm",
            does=_DIRECTORIES,
            given="-r -R --recursive",
            spare=_REBUILT,
            example="rm -fr src",
        ),
        GuardedCommand(
            run="rm|grm|srm|zf_rm",
            does=_DIRECTORIES,
            given="-r -R --recursive",
            part="rebuilt",
            example="rm -fr build",
        ),
        GuardedCommand(
            run="find|gfind|bfs",
            does=_FINDS,
            text=r"(?:^|\s)-(?:delete\b|(?:exec|ok)(?:dir)?\s+(?:\S*/)?(?:g?rm|srm|unlink|shred|rmdir|truncate|cp\s+/dev/null)\b)",
            example="find . -name '*.tmp' -delete",
        ),
        GuardedCommand(
            run="fd|fdfind",
            does=_FINDS,
            text=r"(?:^|\s)(?:-[xX]|--exec|--exec-batch)[\s=](?:\S*/)?(?:rm|unlink|shred|truncate)\b",
            example="fd -e tmp -X rm",
        ),
        GuardedCommand(
            run="git clean",
            does="deletes files that git does not track",
            given="-f --force",
            unless="-n --dry-run",
            example="git clean -xdf",
        ),
        GuardedCommand(
            run="rsync",
            does="deletes files in the target directory that are not in the source",
            given="--delete --delete-before --delete-during --delete-delay --delete-after --delete-excluded --del",
            unless="-n --dry-run",
            example="rsync -a --delete empty/ target/",
        ),
        GuardedCommand(
            run="git worktree remove",
            does="deletes a directory, and the changes in it that are not committed",
            given="-f --force",
            example="git worktree remove --force ../topic",
        ),
        GuardedCommand(
            run="tar|gtar|bsdtar",
            does="deletes what it has packed",
            given="--remove-files",
            example="tar -czf old.tgz --remove-files logs",
        ),
        GuardedCommand(
            run="zip",
            does="deletes what it has packed",
            given="-m --move",
            example="zip -qrm old.zip logs",
        ),
        GuardedCommand(run="rimraf|del-cli", does=_DIRECTORIES, spare=_REBUILT, example="rimraf src"),
        GuardedCommand(run="rimraf|del-cli", does=_DIRECTORIES, part="rebuilt", example="rimraf dist"),
        GuardedCommand(
            run="unlink|rmdir|rm",
            does=_DIRECTORIES,
            given="--no-preserve-root",
            example="rm --no-preserve-root /",
        ),
        GuardedCommand(
            run="cmake",
            does=_DIRECTORIES,
            given="-E",
            operand="^remove_directory$",
            example="cmake -E remove_directory build",
        ),
        GuardedCommand(
            run="btrfs subvolume|sub delete|del", does=_DIRECTORIES, example="btrfs subvolume delete /data"
        ),
    ),
    flows=(
        Flow(
            source="find|gfind|bfs|fd|fdfind",
            into=(
                GuardedCommand(
                    run="rm|grm|srm|unlink|shred|truncate",
                    does=_FINDS,
                    operand="\0",
                    example="find data -type f | xargs truncate -s 0",
                ),
            ),
        ),
    ),
    by_programs=True,
    directories=True,
    parts={"rebuilt": "directories that a build makes again, such as `node_modules` and `dist`"},
    code=(
        r"\brmtree\b|\brimraf\b|\brm_rf?\b|\brm_tree\b|remove_tree|removedirs|remove_dir_all|\bRemoveAll\b|"
        r"deleteDirectory|(?:rmSync|rmdirSync|rmdir|fs\.rm|promises\.rm|\.rm)\([^\n]{0,200}recursive|"
        r"delete_recursive|Deno\.remove\([^\n]{0,200}recursive"
    ),
    started=(
        r"\brm['\",\s]+(?:-\w+['\",\s]+)*-\w*[rR]|\b(?:remove-item|ri|rd|del|erase)\b[^\n;|]{0,200}\s-rec\w*|"
        r"\b(?:get-childitem|gci|dir|ls)\b[^\n;|]{0,200}\s-rec\w*[^\n;|]{0,200}\|\s*(?:remove-item|ri|rm|del)\b|"
        r"\b(?:rd|rmdir|del|erase)\b[^\n;|]{0,50}\s/s\b|\brobocopy\b[^\n;|]{0,300}\s/(?:mir|purge)\b"
    ),
    shows=(
        r"\bwalk\b|\bglob\b|\brglob\b|\blistdir\b|\bscandir\b|\biterdir\b|\breaddir|Dir\[|Dir\.glob|opendir|File::Find",
        r"\.remove\(|\bunlink|\btruncate\b|File\.delete|\bremove_(?:dir|entry)|\brmdir\b",
    ),
    code_does="looks like code that deletes directories",
    catches=(
        'rm -r -- "$DIR"',
        "rm --recurs --force node_modules",
        "find . -type d -name cache -exec rm -rf {} +",
        "ls | xargs rm -rf",
        "cd /srv && sudo rm -Rf old",
        "python3 -c \"import shutil; shutil.rmtree('x')\"",
        "docker ps -q | xargs -I{} sh -c 'rm -rf /data/{}'",
    ),
    leaves=("rm notes.txt", "rm -f *.log", "rmdir empty", "git clean -nd", "find . -name '*.py' -print"),
    cannot=(
        "Many files that are deleted one by one (`rm *`), and what a script or a Makefile deletes.",
        "Code that computes the name of the function that deletes.",
    ),
)

#: Devices that hold a disk or a part of one.
_DEVICE = (
    r"/dev/(?:sd[a-z]|hd[a-z]|vd[a-z]|xvd[a-z]|nvme\d|mmcblk\d|r?disk\d|md\d|dm-\d|loop\d|mapper/|disk/|sr\d|"
    r"nbd\d|zvol/|dasd|pmem\d|mtd)"
)
_ERASES = "erases a disk or a part of it"

DISK = GuardSpec(
    name="disk",
    title="Formatting, partitioning and overwriting disks",
    instead="Leave disks to the user.",
    rows=(
        GuardedCommand(
            run="mkfs|mkfs.*|mke2fs|newfs|newfs_*|mkswap|mkdosfs|mkntfs",
            does=_ERASES,
            spare=r"\.(?:img|image|raw|iso|bin)$",
            example="mkfs.ext4 /dev/sdb1",
        ),
        GuardedCommand(
            run="dd|gdd|dcfldd",
            does=_ERASES,
            operand=f"^of={_DEVICE}",
            example="dd if=image.iso of=/dev/sda bs=4M",
        ),
        GuardedCommand(
            run="fdisk|cfdisk|sfdisk|gdisk|sgdisk|cgdisk",
            does="changes the partitions of a disk",
            unless="-l --list -d --dump -p --print --info -i --list-details -x -J --json --verify -V -F -h",
            example="fdisk /dev/sda",
        ),
        GuardedCommand(
            run="sgdisk",
            does="changes the partitions of a disk",
            given="-Z --zap-all -z --zap -o --clear -d --delete -n --new -g --mbrtogpt -l --load-backup -R --replicate",
            unless="-P --pretend",
            example="sgdisk -p --zap-all /dev/sda",
        ),
        GuardedCommand(
            run="parted",
            does="changes the partitions of a disk",
            unless="-l --list -v --version",
            operand=r"^(?:mk\w+|rm|resizepart|rescue|set|name|toggle)$",
            example="parted -s /dev/sda mklabel gpt",
        ),
        GuardedCommand(
            run="wipefs",
            does=_ERASES,
            given="-a --all -o --offset",
            unless="-n --no-act",
            example="wipefs -af /dev/sda",
        ),
        GuardedCommand(run="blkdiscard", does=_ERASES, example="blkdiscard /dev/nvme0n1"),
        GuardedCommand(
            run="shred|wipe|srm|scrub",
            does="overwrites files or disks so that nothing is left",
            example="shred -n 3 -z /dev/sda",
        ),
        GuardedCommand(
            run="hdparm",
            does=_ERASES,
            given="--security-erase --security-erase-enhanced --trim-sector-ranges "
            "--make-bad-sector --write-sector --fwdownload --dco-restore",
            example="hdparm --security-erase NULL /dev/sda",
        ),
        GuardedCommand(
            run="nvme format|sanitize|delete-ns|write-zeroes",
            does=_ERASES,
            example="nvme format /dev/nvme0n1",
        ),
        GuardedCommand(
            run="cryptsetup luksformat|luksFormat|erase|luksErase|reencrypt|luksKillSlot",
            does="makes the data on a disk unreadable",
            example="cryptsetup luksFormat /dev/sdb",
        ),
        GuardedCommand(
            run="pvremove|vgremove|lvremove|lvreduce|pvcreate|vgreduce",
            does="removes disk volumes",
            example="lvremove -f vg0/data",
        ),
        GuardedCommand(
            run="zpool|zfs destroy|labelclear|rollback",
            does="destroys disk volumes",
            example="zpool destroy tank",
        ),
        GuardedCommand(run="zpool create", does=_ERASES, example="zpool create tank /dev/sdb"),
        GuardedCommand(
            run="mdadm",
            does="changes the disks of an array",
            given="--zero-superblock --create --stop -C -S",
            example="mdadm --zero-superblock /dev/sdb",
        ),
        GuardedCommand(
            run="diskutil erase*|partitionDisk|reformat|secureErase|zeroDisk|randomDisk|resetFusion|split*",
            does=_ERASES,
            example="diskutil eraseDisk JHFS+ Blank disk2",
        ),
        GuardedCommand(run="badblocks", does=_ERASES, given="-w", example="badblocks -wsv /dev/sdb"),
        GuardedCommand(
            run="diskutil apfs delete*|erase*", does=_ERASES, example="diskutil apfs deleteContainer disk2"
        ),
        GuardedCommand(
            run="tee|gtee|cp|gcp|mv|truncate|ddrescue|install|dc3dd|qemu-img",
            does=_ERASES,
            operand=f"^{_DEVICE}",
            which="last",
            example="cp image.iso /dev/sdb",
        ),
        GuardedCommand(
            run="asr restore",
            does=_ERASES,
            given="--erase -erase",
            example="asr restore --source x --target y --erase",
        ),
    ),
    written=f"^{_DEVICE}",
    written_does=_ERASES,
    code=(rf"open\(['\"]{_DEVICE}[^)]{{0,200}}['\"][wa+]"),
    started=(
        r"\b(?:format-volume|clear-disk|initialize-disk|remove-partition|diskpart)\b|\bformat(?:\.com)?\s+[a-z]:|"
        rf"\bmkfs\.|\bof={_DEVICE}"
    ),
    code_does="looks like code that writes to a disk",
    catches=(
        "cat /dev/zero > /dev/sda",
        "sudo dd if=/dev/urandom of=/dev/nvme0n1",
        "sudo mkfs -t ext4 /dev/sdb",
    ),
    leaves=("fdisk -l", "dd if=/dev/zero of=disk.img count=1", "lsblk", "df -h", "cat x > /dev/null"),
    cannot=("A disk behind another name: a link, a loop device made earlier, a path in a variable.",),
)
