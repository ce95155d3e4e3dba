"""Root file systems in which cloud-init and Ignition run: built once, read-only for ever after.

Two Debian releases stand for two ages of cloud-init: trixie has 25.1 (the main engine), bookworm has 22.4
(the oldest in wide use). mmdebstrap and not debootstrap: the latter cannot resolve cloud-init's virtual
dependencies.
"""

from __future__ import annotations

import dataclasses
import hashlib
import platform
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.oracles import cache
from tools.oracles.failures import EngineBroken, EngineMissing

PACKAGES = (
    "systemd", "systemd-sysv", "systemd-timesyncd", "dbus", "passwd", "sudo", "login", "procps", "iproute2",
    "netbase", "openssh-server", "ca-certificates", "cloud-init", "cloud-guest-utils", "e2fsprogs",
    "dosfstools",
    "gdisk", "fdisk", "locales", "ifupdown", "kmod", "udev",
)  # fmt: skip
# What Ignition runs in, in the place of a real initramfs: the engine, and what its files stage calls.
INITRAMFS_PACKAGES = ("ignition", "passwd", "policycoreutils", "systemd")
# What makes a machine a Kubernetes node; the rest are its own programs.
NODE_PACKAGES = (
    *PACKAGES, "conntrack", "containerd", "containernetworking-plugins", "curl", "ethtool", "iptables", "jq", "mount",
    "nftables", "runc", "socat", "util-linux",
)  # fmt: skip
# What boots with a kernel and block devices of its own: both first-boot systems, and what they make disks with.
MACHINE_PACKAGES = (
    *PACKAGES, "btrfs-progs", "ignition", "initramfs-tools", "linux-image-cloud-amd64", "policycoreutils", "xfsprogs",
)  # fmt: skip
# A domain controller of Active Directory, and what joins a machine to its domain.
DIRECTORY_PACKAGES = (
    "adcli", "iproute2", "krb5-user", "ldb-tools", "procps", "samba-ad-dc", "samba-ad-provision", "samba-common-bin",
    "winbind",
)  # fmt: skip
# What becomes a member of that domain at its first boot, and a clock for it that is wrong.
MEMBER_PACKAGES = (
    *PACKAGES, "adcli", "faketime", "krb5-user", "ldap-utils", "libnss-sss", "libpam-sss", "samba-common-bin",
    "sssd-ad", "sssd-tools",
)  # fmt: skip
_FINISHED = "2"  # Raise it when _finish changes.
CHECKER_PACKAGES = ("dash", "libxml2-utils", "openssh-server", "procps", "shellcheck", "sudo", "systemd")
# Wine in /wine, set up once. Debian has one of its libraries elsewhere; those that the set-up has copied are the same
# files again: there are 700 MB of them.
WINE_PACKAGES = ("wine64",)
_SET_UP_WINE = """
set -e
export HOME=/root LANG=C.UTF-8 PATH=/usr/lib/wine:/usr/sbin:/usr/bin:/sbin:/bin
export WINEPREFIX=/wine WINEDEBUG=-all WINEDLLOVERRIDES=mscoree,mshtml=
export WINEPATH='Z:\\usr\\x86_64-w64-mingw32\\lib'
libraries=/usr/lib/x86_64-linux-gnu/wine/x86_64-windows
wine64 wineboot --init
wineserver64 --wait
echo disable >$WINEPREFIX/.update-timestamp
cd $WINEPREFIX/drive_c/windows/system32
cp /usr/x86_64-w64-mingw32/lib/zlib1.dll .
for name in *; do
  if cmp -s $name $libraries/$name; then ln -f $libraries/$name $name; fi
done
"""
# The package managers of distributions of which there is no root here, and what makes a repository for them.
RPM_PACKAGES = ("createrepo-c", "dnf", "gnupg", "rpm", "zypper")
HOST_PACKAGES = ("mmdebstrap", "systemd-container")
# What tests of the runner execute on this machine itself, in folders of their own.
SHELL_PACKAGES = ("bash", "busybox-static", "dash", "shellcheck")
# What opens pages on this machine itself, and letters for it.
BROWSER_PACKAGES = ("chromium", "fonts-dejavu-core")


@dataclasses.dataclass(frozen=True)
class Root:
    """A kind of root file system: a Debian release and what is in it beyond the least.

    ``requirements`` names a file of pinned Python packages, which go to ``/opt/engine`` in the tree. ``set_up`` is a
    script that runs in the tree when all packages are in it.
    """

    name: str
    suite: str
    packages: tuple[str, ...] = PACKAGES
    requirements: str = ""
    set_up: str = ""

    @property
    def path(self) -> Path:
        """Where the tree is, or will be; the name changes with the recipe."""
        pins = Path(__file__).with_name(self.requirements).read_text(encoding="utf-8") if self.requirements else ""
        recipe = "\n".join((_FINISHED, self.suite, *self.packages, pins)) + self.set_up
        return cache.directory() / "roots" / f"{self.name}-{hashlib.sha256(recipe.encode()).hexdigest()[:12]}"

    def require(self) -> Path:
        """The tree's path.

        Raises:
            EngineMissing: it was not built yet.
        """
        if not self.path.is_dir():
            raise EngineMissing(f"root-{self.name}")
        return self.path


ROOTS = {
    root.name: root
    for root in (
        Root("trixie", "trixie"),
        Root("bookworm", "bookworm"),
        Root("ignition", "bookworm", INITRAMFS_PACKAGES),
        Root("checkers", "trixie", CHECKER_PACKAGES),
        Root("windows", "bookworm", ("python3",), requirements="windows-requirements.txt"),
        Root("node-trixie", "trixie", NODE_PACKAGES),
        Root("node-bookworm", "bookworm", NODE_PACKAGES),
        Root("machine", "trixie", MACHINE_PACKAGES),
        Root("rpm", "bookworm", RPM_PACKAGES),
        Root("directory", "trixie", DIRECTORY_PACKAGES),
        Root("member", "trixie", MEMBER_PACKAGES),
        Root("wine", "bookworm", WINE_PACKAGES, set_up=_SET_UP_WINE),
    )
}


def build(root: Root) -> Path:
    """Makes the tree unless it is there; about a minute."""
    with cache.locked(f"root-{root.name}"):
        if root.path.is_dir():
            return root.path
        install_packages(HOST_PACKAGES)
        with cache.being_built(root.path) as beside:
            # What it mounts in the tree goes with it, even when it is killed.
            command = ["unshare", "--mount", "mmdebstrap", "--variant=minbase", f"--include={','.join(root.packages)}"]
            command += [f"--aptopt={option}" for option in _apt_options()]
            if root.set_up:
                command.append(f'--customize-hook=chroot "$1" sh -c {shlex.quote(root.set_up)}')
            done = subprocess.run(
                ["nice", *command, root.suite, beside, _mirror()], check=False, capture_output=True, text=True
            )
            if done.returncode:
                raise EngineBroken(f"mmdebstrap {root.name}: {done.stderr[-2000:]}")
            _finish(beside)
            if root.requirements:
                _install_python_packages(root.requirements, beside)
            for old in root.path.parent.glob(f"{root.name}-????????????"):
                with cache.unused(old.name) as nobody_runs_on_it:
                    if nobody_runs_on_it:
                        cache.discard(old)
    return root.path


def install_packages(names: Sequence[str]) -> None:
    """Installs Debian packages on this machine that are not on it yet."""
    absent = [name for name in names if not _installed(name)]
    if not absent:
        return
    with cache.locked("apt"):
        environment = {"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
        apt = ["apt-get", "-q", "-y", "-o", "DPkg::Lock::Timeout=600"]
        for command in ([*apt, "update"], [*apt, "install", "--no-install-recommends", *absent]):
            done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
            if done.returncode and "install" in command:
                raise EngineBroken(f"apt-get install {' '.join(absent)}: {done.stderr[-1000:]}")


def require_packages(names: Sequence[str], engine: str) -> None:
    """Does nothing when this machine has these Debian packages, which are an engine.

    Raises:
        EngineMissing: it has not.
    """
    absent = [name for name in names if not _installed(name)]
    if absent:
        raise EngineMissing(engine, f"not installed: {', '.join(absent)}")


def _installed(name: str) -> bool:
    query = ["dpkg-query", "-W", "-f", "${db:Status-Status}", name]
    return subprocess.run(query, check=False, capture_output=True, text=True).stdout == "installed"


def _install_python_packages(requirements: str, tree: Path) -> None:
    """Installs for the tree's own Python, 3.11 in bookworm, whatever Python runs this."""
    kinds = [f"--platform={kind}_{platform.machine()}" for kind in ("manylinux2014", "manylinux_2_28")]
    target = [f"--target={tree / 'opt/engine'}", "--python-version=3.11", "--implementation=cp", *kinds]
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--no-deps"]
    command += ["--require-hashes", *target]
    done = subprocess.run(
        [*command, "--requirement", Path(__file__).with_name(requirements)], check=False, capture_output=True, text=True
    )
    if done.returncode:
        raise EngineBroken(f"pip install {requirements}: {done.stderr[-2000:]}")


def _mirror() -> str:
    """The machine's own Debian mirror, from its apt configuration: the project names no host."""
    listing = [
        "apt-get",
        "indextargets",
        "--format",
        "$(ORIGIN)|$(LABEL)|$(REPO_URI)",
        "Created-By: Packages",
    ]
    answer = subprocess.run(listing, check=True, capture_output=True, text=True).stdout
    for line in answer.splitlines():
        origin, label, address = line.split("|", 2)
        if origin == label == "Debian":
            return address
    raise EngineMissing("roots", "apt on this machine knows no Debian mirror")


def _apt_options() -> list[str]:
    """Proxy and date settings of this machine's apt, which mmdebstrap would not take over by itself."""
    keys = (
        "Acquire::http::Proxy",
        "Acquire::https::Proxy",
        "Acquire::Check-Valid-Until",
        "Acquire::Check-Date",
    )
    dump = subprocess.run(["apt-config", "dump", "Acquire"], check=True, capture_output=True, text=True).stdout
    return [line.rstrip(";") for line in dump.splitlines() if line.split(" ", 1)[0] in keys and '""' not in line]


def _finish(tree: Path) -> None:
    """Takes out what would differ from build to build or would mislead an engine."""
    for name in ("etc/cloud/cloud.cfg.d/90_dpkg.cfg", "etc/hostname", "etc/resolv.conf"):
        (tree / name).unlink(missing_ok=True)
    for key in (tree / "etc/ssh").glob("ssh_host_*"):
        key.unlink()
    for folder in ("var/cache/apt", "var/lib/apt/lists", "dev", "run"):
        for entry in (tree / folder).iterdir():
            if entry.is_dir() and not entry.is_symlink():
                shutil.rmtree(entry)
            else:
                entry.unlink()
