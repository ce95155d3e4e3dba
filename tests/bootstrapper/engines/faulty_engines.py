"""Engines with a fault that one process shows, each with one; they are made of one without."""

import itertools
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime, timedelta
from types import MappingProxyType

from slipway.bootstrapper.engines.bootstrap_tokens import BootstrapTokens
from slipway.bootstrapper.engines.engine import supports
from slipway.bootstrapper.engines.join_tokens import Maker, Place, TokenRequest, Upkeep, Values
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.problems.problem import Problem
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.engines.impure_engines import (
    Plain,
)


class Changing(Plain):
    """Writes into what it is given."""

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Do so."""
        made = super().build_plan(bundle, served)
        bundle.machine.name += "x"
        return made


class Counting(Plain):
    """Is not the same twice."""

    count = itertools.count()

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give another path each time."""
        made = super().file(bundle)
        made.path += str(next(self.count))
        return made


class Idle(Plain):
    """Takes taints, and does nothing with them."""

    features = (*Plain.features, *supports(frozenset({"kubernetes.node.taints"})))
    remedies = MappingProxyType({})


class Unknown(Plain):
    """Declares what the contract lacks."""

    features = (*Plain.features, *supports(frozenset({"kubernetes.node.zebra"})))


class Remedied(Plain):
    """Has a remedy for what it takes."""

    remedies = MappingProxyType({"kubernetes.node.labels": "leave it out"})


class Readable(Plain):
    """Makes a token readable by all."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give the token."""
        made = super().file(bundle)
        made.content.segments[1].secret_ref.key = "token"
        made.content.segments[1].secret_ref.name = "slipway.dev/bootstrap-token"
        return made


class Serving(Plain):
    """Has all machines serve."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give the step."""
        yield planpb.Step(id="a", phase=planpb.PHASE_BOOTSTRAP, command=planpb.Command(argv=["plain", "serve"]))


class Escaping(Plain):
    """Has a step whose id is a path."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give it."""
        for made in super().steps(bundle):
            made.id = "../20"
            yield made


class Relative(Plain):
    """Has a file without a folder."""

    path = "etc/plain"

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give it."""
        made = super().file(bundle)
        made.path = self.path
        return made


class Reserved(Relative):
    """Writes where only Slipway does."""

    path = "/var/lib/slipway/run"


class Twice(Plain):
    """Has a file twice."""

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give it."""
        made = super().build_plan(bundle, served)
        return replace(made, files=made.files * 2)


class Naming(Plain):
    """Has the token's name in its command."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give it."""
        for made in super().steps(bundle):
            made.command.argv.append(f"--token={bundle.intent.credentials.bootstrap_token.name}")
            yield made


class Revealing(Plain):
    """Has a value in its command."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give it."""
        for made in super().steps(bundle):
            made.command.argv.append("abcdef.0123456789abcdef")
            yield made


class Telling(Plain):
    """Has a key of its own in a file."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give it."""
        made = super().file(bundle)
        made.content.segments.add(data=b"-----BEGIN RSA PRIVATE KEY-----\nMIIE")
        return made


class Unnamed(Plain):
    """Has no name."""

    name = ""


class Spaced(Plain):
    """Has a name that no field can hold."""

    name = "Pl ain"


class Unversioned(Plain):
    """Has no version."""

    version = ""


class Reversed(Plain):
    """Serves no version of Kubernetes."""

    oldest = (1, 40)


class Advising(Plain):
    """Has a remedy for what is in no contract."""

    remedies = MappingProxyType({"kubernetes.nope": "leave it out"})


class Mistaken(Plain):
    """Gives the result of another engine."""

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give it."""
        return replace(super().build_plan(bundle, served), engine="other")


class Foreign(Plain):
    """Refers to a secret that is not there."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give it."""
        made = super().file(bundle)
        made.content.segments[1].secret_ref.name = "slipway.dev/other"
        return made


class Named(Plain):
    """Says that it plans by class, and puts the machine's name in a file."""

    plans_by_class = True

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give it."""
        made = super().file(bundle)
        made.path += bundle.machine.name
        return made


class Unowned(Plain):
    """Leaves the mode of a file open."""

    def file(self, bundle: bundlepb.BootstrapBundle) -> ospb.File:
        """Give one without."""
        made = super().file(bundle)
        made.ClearField("mode")
        return made


class Doubled(Plain):
    """Has two steps of a name, one of another phase."""

    def steps(self, bundle: bundlepb.BootstrapBundle) -> Iterable[planpb.Step]:
        """Give both."""
        (made,) = super().steps(bundle)
        yield made
        yield planpb.Step(id="a", phase=planpb.PHASE_POST, command=made.command)


class Trusting(Plain):
    """Gives workers the key of an authority."""

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> tuple[secretpb.SecretDeclaration, ...]:
        """Declare it so."""
        authority, *others = super().secrets(kubernetes)
        more = secretpb.SecretDeclaration()
        more.CopyFrom(authority)
        more.full_roles.append("ROLE_WORKER")
        return (more, *others)


TOKENS = Plain.join_tokens


class Nameless(Plain):
    """Joins by a secret that it does not declare."""

    join_tokens = replace(TOKENS, control_plane_secret="slipway.dev/other")


class Shared(BootstrapTokens):
    """Bootstrap tokens of which all machines have one."""

    def place(self, request: TokenRequest) -> Place:
        """Give it."""
        return Place("kube-system", "token")

    def text(self, request: TokenRequest, there: Values | None) -> str:
        """Give what was not drawn."""
        return "a"


class Sharing(Plain):
    """Joins by them."""

    join_tokens = Shared(TOKENS.worker, TOKENS.control_plane)


class Fleeting(BootstrapTokens):
    """Bootstrap tokens that last for a second."""

    def upkeep(self, request: TokenRequest, there: Values | None, *, now: datetime, ttl: timedelta) -> Upkeep:
        """Make it so."""
        return super().upkeep(request, None, now=now, ttl=timedelta(seconds=1))


class Hasty(Plain):
    """Joins by them."""

    join_tokens = Fleeting(TOKENS.worker, TOKENS.control_plane)


class Foreseen(BootstrapTokens):
    """Tokens that the cluster makes, and that are known before."""

    made_by = Maker.CLUSTER


class Foreseeing(Plain):
    """Joins by them."""

    join_tokens = Foreseen(TOKENS.worker, TOKENS.control_plane)


class Refusing(Plain):
    """Refuses what it declares."""

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Do so."""
        refusal = Problem("kubernetes.node.labels", "intent.kubernetes.node.labels[0]", "is not liked", "leave it")
        return EngineResult(self.name, refusals=(refusal,) if bundle.intent.kubernetes.node.labels else ())
