"""Engines whose plans depend on more than the bundle, each in one way; they are tried in processes of their own."""

import datetime as dt
import functools
import os
import platform
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from slipway.bootstrapper.engines.engine import Engine, supports
from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.k0s.features import FEATURES
from slipway.bootstrapper.engines.result import EngineResult
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb

FACTUAL = ("kubernetes.role", "kubernetes.version", "kubernetes.cluster", "kubernetes.credentials", "kubernetes.engine")
IMPORTED_AS = str(uuid.uuid4())
IMPORTED_ON = int(time.time())
IMPORTED_AT = os.environ.get("HOME")


class Plain(Engine):
    """An engine without a fault, which others are made of; it takes labels."""

    name = "plain"
    version = "1.0.0"
    oldest, newest = (1, 27), (1, 36)
    os_families = (clusterpb.OS_FAMILY_LINUX,)
    features = supports(
        frozenset(entry for entry in FEATURES if entry.startswith((*FACTUAL, "kubernetes.node.labels")))
    )
    remedies: Mapping[str, str] = MappingProxyType({"kubernetes.node.taints": "leave it out"})
    join_tokens = K0sEngine.join_tokens

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> tuple[secretpb.SecretDeclaration, ...]:
        """Declare those of k0s."""
        return tuple(K0sEngine().secrets(kubernetes))

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give a file and a step."""
        return EngineResult(self.name, files=(self.file(bundle),), steps=tuple(self.steps(bundle)))

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give a file with the labels and a secret."""
        labels = ",".join(label.name for label in bundle.intent.kubernetes.node.labels)
        authority = bundle.intent.credentials.cluster_ca.certificate
        segments = [contentpb.Segment(data=labels.encode()), contentpb.Segment(secret_ref=authority)]
        content = contentpb.Content(segments=segments)
        return ospb.File(path="/etc/plain", owner="root", group="root", mode=0o644, content=content)

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give the step, by the role."""
        command = planpb.Command(argv=["plain", clusterpb.Role.Name(bundle.intent.role)])
        yield planpb.Step(id="a", phase=planpb.PHASE_BOOTSTRAP, command=command)


class Asking(Plain):
    """Puts an answer of the machine into a file."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Ask for it."""
        made = super().file(bundle)
        made.content.segments.add(data=str(self.answer()).encode())
        return made

    def answer(self) -> object:
        """Give the answer."""
        return ""


@functools.cache
def _text_once() -> str:
    return Path("/etc/passwd").read_text()


def _text_in_thread() -> str:
    texts: list[str] = []
    thread = threading.Thread(target=lambda: texts.append(Path("/etc/passwd").read_text()))
    thread.start()
    thread.join()
    return texts[0]


class Opening(Asking):
    """Reads a file."""

    def answer(self) -> object:
        """Do so."""
        return Path("/etc/passwd").read_text()


class Caching(Asking):
    """Reads a file for its first plan."""

    def answer(self) -> object:
        """Do so."""
        return _text_once()


class Calling(Asking):
    """Looks for an address."""

    def answer(self) -> object:
        """Do so."""
        return socket.getaddrinfo("127.0.0.1", 80)


class Threading(Asking):
    """Reads a file in a thread."""

    def answer(self) -> object:
        """Do so."""
        return _text_in_thread()


class Starting(Asking):
    """Starts a program."""

    def answer(self) -> object:
        """Do so."""
        return subprocess.run(["true"], check=True).returncode  # of the machine


class Environmental(Asking):
    """Reads a variable that is not set."""

    def answer(self) -> object:
        """Do so."""
        return os.environ.get("SET_NOWHERE", "")


class Looking(Asking):
    """Looks whether a file is there."""

    def answer(self) -> object:
        """Do so."""
        return Path("/etc/set/nowhere").exists()


class Uname(Asking):
    """Asks for the kernel."""

    def answer(self) -> object:
        """Do so."""
        return os.uname().sysname


class Platform(Asking):
    """Asks for the name of the machine."""

    def answer(self) -> object:
        """Do so."""
        return platform.node()


class Host(Asking):
    """Asks for the name of the machine otherwise."""

    def answer(self) -> object:
        """Do so."""
        return socket.gethostname()


class Seconds(Asking):
    """Asks for the time."""

    def answer(self) -> object:
        """Do so."""
        return int(time.time())


class Today(Asking):
    """Asks for the day."""

    def answer(self) -> object:
        """Do so."""
        return dt.date.today()  # noqa: DTZ011  # the fault itself


class Now(Asking):
    """Asks for the day otherwise."""

    def answer(self) -> object:
        """Do so."""
        return dt.datetime.now(dt.UTC).year


class Drawing(Asking):
    """Asks for random bytes."""

    def answer(self) -> object:
        """Do so."""
        return os.urandom(0)


class Unordered(Asking):
    """Puts a set into a file as it comes."""

    def answer(self) -> object:
        """Do so."""
        return list({"red", "blue", "green", "white"})


class Hashing(Asking):
    """Puts the hash of a text into a file."""

    def answer(self) -> object:
        """Do so."""
        return hash("red")


class Unique(Asking):
    """Has a number of its process."""

    def answer(self) -> object:
        """Do so."""
        return IMPORTED_AS


class Dated(Asking):
    """Has the time of its import."""

    def answer(self) -> object:
        """Do so."""
        return IMPORTED_ON


class Homely(Asking):
    """Has a variable of its import."""

    def answer(self) -> object:
        """Do so."""
        return IMPORTED_AT


class Needing(Plain):
    """Cannot be made without an argument."""

    def __init__(self, argument: int) -> None:
        """Take it."""
        self.argument = argument
