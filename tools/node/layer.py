"""What a node image has beyond Debian's packages: the checked-in files of ``layer/``, owned by root, and links."""

from __future__ import annotations

import shutil
from pathlib import Path

_SOURCE = Path(__file__).with_name("machine_files")
_LINKS = {
    "usr/bin/kubeadm": "kubebox",
    "usr/bin/kubectl": "kubebox",
    "usr/bin/kubelet": "kubebox",
    "opt/cni/bin": "/usr/lib/cni",
    "etc/systemd/system/multi-user.target.wants/kubelet.service": "/usr/lib/systemd/system/kubelet.service",
    "etc/systemd/system/sysinit.target.wants/stand-in-for-hardware.service":
        "/usr/lib/systemd/system/stand-in-for-hardware.service",
}  # fmt: skip


def write(target: Path) -> None:
    """Copies the files; an overlay over the root then is a node's."""
    shutil.copytree(_SOURCE, target)
    for name, link in _LINKS.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).symlink_to(link)
    for path in target.rglob("*"):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    (target / "etc/machine-id").write_text("")  # the first boot of a machine writes its own
    (target / "var/log/journal").mkdir(parents=True)
