"""The controls that are listed as not applicable with k0s are those whose evidence says so on such a machine."""

import os
import shutil
from pathlib import Path

import pytest

from slipway.bootstrapper.compliance.profile import Profile
from slipway.bootstrapper.compliance.profile_table import profiles
from tests.bootstrapper.compliance.hardened_node import hardened
from tests.bootstrapper.compliance.specs import spec_of
from tools.docgen.compliance_k0s import inapplicable, k0s_section

OF_KUBEADM = ("etc/kubernetes", "etc/systemd", "var/lib/etcd", "var/lib/kubelet")


@pytest.mark.skipif(os.geteuid() != 0, reason="owners of files are changed")
@pytest.mark.parametrize("profile", profiles().values(), ids=lambda profile: profile.name)
def test_the_list_is_what_evidence_says(tmp_path: Path, profile: Profile) -> None:
    """On a machine without the files of kubeadm those controls, and no others, have nothing to look at."""
    made = hardened(tmp_path, spec_of("kubernetes: {engine: k0s}", profile=f"{profile.name}/{profile.levels[-1]}"))
    for folder in OF_KUBEADM:
        shutil.rmtree(made.node.root / folder)
    absent = {name for name, result in made.node.results().items() if result == "not-applicable"}
    assert absent == {f"{profile.name}/{control.id}" for control in inapplicable(profile)}
    assert absent


def test_each_is_listed_with_a_reason() -> None:
    """No cell of the table is empty."""
    rows = [line for line in k0s_section().splitlines() if line.startswith("| `")]
    assert len(rows) == sum(len(inapplicable(profile)) for profile in profiles().values())
    assert not [row for row in rows if row.endswith("|  |")]
