"""Paths of Linux in their shortest form, by their text: so the programs of today read them.

cloud-init does so (os.path.abspath), and Ignition, kubeadm, useradd and systemd read a path with repeated or trailing
slashes as the one without. The neutral types have one form for each path only.
"""

import posixpath

_DEVICES = "/dev/"


def normal_path(path: str) -> str:
    """Give a path in its shortest form; what does not begin with a slash is no path of Linux, and stays."""
    return posixpath.normpath(f"/{path.lstrip('/')}") if path.startswith("/") else path


def normal_source(source: str) -> str:
    """Give what a mount names in its shortest form, where it is a device: //server/share is another thing."""
    path = normal_path(source)
    return path if path.startswith(_DEVICES) else source


def normal_volume(path: str) -> str:
    """Give a path of a volume in its shortest form; one with a part that is ".." stays: Kubernetes refuses it."""
    return path if ".." in path.split("/") else normal_path(path)
