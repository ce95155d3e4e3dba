"""Tokens that kubeadm would refuse on the machine are refused before there is a machine, each at its field."""

from typing import Any

import pytest
import yaml

from tools.oracles import finding, kubeadm

TOKEN = 'engine_options { kubeadm { bootstrap_tokens { token { secret_ref { name: "t" key: "token" } } %s } } }'
PROVIDER = "execution { literal_commands: true }"
FIRST = "engine_options.kubeadm.bootstrap_tokens[0]"
GROUP = 'groups: "system:bootstrappers:a"'
REFUSED = [
    (f'usages: "signing" {GROUP}', [f"{FIRST}.groups"], "groups without the usage that they are for"),
    ('usages: "signing"', [f"{FIRST}.usages"], "kubeadm fills in a group"),
    ('usages: "authentication" usages: "other"', [f"{FIRST}.usages[1]"], "a usage that nobody knows"),
    ('usages: "Authentication"', [f"{FIRST}.usages[0]", f"{FIRST}.usages"], "kubeadm tells letters apart"),
    ('groups: "system:masters"', [f"{FIRST}.groups[0]"], "a group of others"),
    (
        f'{GROUP} groups: "system:bootstrappers:a-"',
        [f"{FIRST}.groups[1]"],
        "groups end with a letter or digit",
    ),
]
TAKEN = [
    ("", "nothing is said"),
    (GROUP, "unsaid usages are all of them"),
    (f'usages: "authentication" {GROUP}', "what groups are for"),
    ('usages: "signing" usages: "authentication"', "both"),
]


@pytest.mark.parametrize("more", [(), (PROVIDER,)], ids=["native", "imported"])
@pytest.mark.parametrize(("token", "paths", "reason"), REFUSED, ids=[one[2] for one in REFUSED])
def test_what_kubeadm_refuses_is_refused(
    machines: Any, token: str, paths: list[str], reason: str, more: tuple[str, ...]
) -> None:
    """At the field, with a remedy, whoever wrote it: the machine could not become a node."""
    result = machines.plan("ROLE_INIT", TOKEN % token, *more)
    assert [one.path for one in result.refusals] == paths, reason
    assert all(
        refusal.feature == "engine_options.kubeadm.bootstrap_tokens" and refusal.remedy for refusal in result.refusals
    )
    # Who joins creates no token.
    assert machines.plan("ROLE_CONTROL_PLANE", TOKEN % token, *more).refusals == ()


@pytest.mark.engine
@pytest.mark.parametrize("version", [kubeadm.CURRENT, kubeadm.OLDER])
def test_kubeadm_says_the_same(engine: Any, machines: Any, version: str) -> None:
    """The real one refuses each of these tokens and takes the others, in both of its APIs."""
    engine(f"kubeadm-{version}")
    patch = {kubeadm.CURRENT: "v1.34.2", kubeadm.OLDER: "v1.30.5"}[version]
    sound = list(yaml.safe_load_all(machines.config("ROLE_INIT", version=patch)))
    for said, wanted in [*((one[0], False) for one in REFUSED), *((one[0], True) for one in TAKEN)]:
        (token,) = machines.part(TOKEN % said).engine_options.kubeadm.bootstrap_tokens
        entry = {"token": "abcdef.0123456789abcdef", "usages": list(token.usages), "groups": list(token.groups)}
        documents = [
            {**one, "bootstrapTokens": [entry]} if one["kind"] == "InitConfiguration" else one for one in sound
        ]
        found = finding.errors(kubeadm.validate(yaml.safe_dump_all(documents).encode(), version=version))
        assert (said, not found) == (said, wanted)
        assert (said, not machines.plan("ROLE_INIT", TOKEN % said, version=patch).refusals) == (said, wanted)
