"""The tokens that `kubeadm init` creates, and what kubeadm refuses of them.

Source of the rules: kubeadm's ValidateBootstrapTokens and SetDefaults_BootstrapToken, which both of its APIs share. A
token that breaks one makes `kubeadm init` fail on the machine, so no spec keeps it, an imported one neither.
"""

import re
from collections.abc import Iterator

from slipway.bootstrapper.engines.durations import go_duration
from slipway.bootstrapper.engines.kubeadm.documents.parts import BootstrapToken
from slipway.bootstrapper.engines.kubeadm.request import OPTIONS, EngineRequest
from slipway.bootstrapper.engines.texts import secret_text, secret_value

_FEATURE = f"{OPTIONS}.bootstrap_tokens"
_AUTHENTICATION = "authentication"
_USAGES = ("signing", _AUTHENTICATION)
_GROUP = re.compile(r"system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]")


def check_tokens(request: EngineRequest) -> None:
    """Refuse every token of the spec that kubeadm would refuse on the machine that creates the cluster."""
    if not request.creates_cluster:
        return
    for index, token in enumerate(request.options.bootstrap_tokens):
        path = f"{_FEATURE}[{index}]"
        for number, usage in enumerate(token.usages):
            if usage not in _USAGES:
                request.remarks.refuse(
                    _FEATURE,
                    f"{path}.usages[{number}]",
                    "is no usage that kubeadm knows",
                    remedy=f"write {' or '.join(_USAGES)}",
                )
        for number, group in enumerate(token.groups):
            if _GROUP.fullmatch(group) is None:
                request.remarks.refuse(
                    _FEATURE,
                    f"{path}.groups[{number}]",
                    "is no group that a bootstrap token can have",
                    remedy='write a name that begins with "system:bootstrappers:" and goes on with lower-case letters, '
                    'digits, ":" or "-"',
                )
        if token.groups and token.usages and _AUTHENTICATION not in token.usages:
            request.remarks.refuse(
                _FEATURE,
                f"{path}.groups",
                "can be given only to a token with the usage authentication",
                remedy="add authentication to usages, or leave usages out, which means both",
            )
        elif token.usages and _AUTHENTICATION not in token.usages:
            request.remarks.refuse(
                _FEATURE,
                f"{path}.usages",
                "lacks authentication: kubeadm gives every token a group, and then refuses groups without that usage",
                remedy="add authentication, or leave usages out, which means both",
            )


def tokens(request: EngineRequest) -> Iterator[BootstrapToken]:
    """Give the cluster's own token first, then those of the spec.

    None says when it expires: kubeadm fills in a time to live, 24 hours, and then refuses a token that has both.
    """
    credentials = request.intent.credentials
    if credentials.HasField("bootstrap_token"):
        token = secret_text(credentials.bootstrap_token)
        yield BootstrapToken(token=token, description="Slipway: the cluster's own token")
    for index, bootstrap_token in enumerate(request.options.bootstrap_tokens):
        path = f"{_FEATURE}[{index}]"
        if bootstrap_token.HasField("expire_time"):
            request.remarks.drop(
                _FEATURE,
                f"{path}.expire_time",
                "kubeadm refuses a configuration that says when a token expires",
                remedy="set ttl instead",
            )
        yield BootstrapToken(
            token=secret_value(bootstrap_token.token, f"{path}.token"),
            description=bootstrap_token.description,
            ttl=go_duration(bootstrap_token.ttl) if bootstrap_token.HasField("ttl") else None,
            usages=tuple(bootstrap_token.usages),
            groups=tuple(bootstrap_token.groups),
        )
