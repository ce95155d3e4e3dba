"""Items that a pass gives up are all named at once, and what was emitted for them is taken back."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from google.protobuf import text_format

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, put_file
from slipway.bootstrapper.lowering.legalise import legalise
from slipway.bootstrapper.lowering.passes import PassTable
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.contract.items import Item, items
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb

LINUX, WINDOWS = clusterpb.OS_FAMILY_LINUX, clusterpb.OS_FAMILY_WINDOWS

NO_CERTIFICATE = 'certificate { segments { data: "no certificate" } }'

WRONG = [
    ("os.users", LINUX, 'users { name: "u%d" sudo: "a\\\\" }', 'users { name: "good" }'),
    ("os.groups", LINUX, 'groups { name: "a b%d" }', 'groups { name: "good" }'),
    ("os.systemd.units", LINUX, 'systemd_units { name: "u%d.service" enabled: true contents: "a" }', ""),
    ("os.trusted_certificates", LINUX, f'trusted_certificates {{ name: "c%d" {NO_CERTIFICATE} }}', ""),
    ("os.sysctls", LINUX, 'sysctls { name: "a.%d.*" value: "1" }', 'sysctls { name: "a.b" value: "1" }'),
    ("os.kernel.modules", LINUX, 'kernel_modules { name: "m%d" parameters: "a b" }', ""),
    ("os.storage.mounts", LINUX, 'mounts { source: "/dev/a" path: "p%d" }', ""),
    ("os.users", WINDOWS, 'users { name: "u%d" uid: 5 }', 'users { name: "good" }'),
    ("os.groups", WINDOWS, 'groups { name: "g%d" gid: 5 }', 'groups { name: "good" }'),
    ("os.trusted_certificates", WINDOWS, f'trusted_certificates {{ name: "c%d" {NO_CERTIFICATE} }}', ""),
]


@pytest.mark.parametrize(("feature", "family", "wrong", "right"), WRONG, ids=[f"{one[0]}-{one[1]}" for one in WRONG])
def test_a_pass_runs_twice_at_most(feature: str, family: clusterpb.OsFamily.ValueType, wrong: str, right: str) -> None:
    """Once to find all that it cannot do, once more for the others; not anew after each of them."""
    system = text_format.Parse("".join(wrong % number for number in range(9)) + right, ospb.OperatingSystem())
    bundle = bundlepb.BootstrapBundle(id="bundle-1", os=system)
    bundle.plan.SetInParent()
    target = clusterpb.Target(os_family=family, distribution="debian" if family == LINUX else "windows")
    runs = []
    passes = []
    for one in all_passes():

        def lower(found: Sequence[Item], draft: Draft, real: object = one.lower, name: str = one.feature) -> None:
            runs.append(name)
            real(found, draft)  # type: ignore[operator]  # it is the pass itself

        passes.append(replace(one, lower=lower))
    draft = Draft(bundle, ProfileTable.shipped().find(target), target)
    result = legalise(draft, [], table=PassTable(passes))
    refused = [refusal for refusal in result.refusals if refusal.feature == feature]
    assert len(refused) == 9
    assert runs.count(feature) == (2 if right else 1)


def test_what_was_emitted_for_an_item_is_taken_back() -> None:
    """A file that is not written after all stands in no other item's way."""
    bundle = bundlepb.BootstrapBundle()
    bundle.os.groups.add(name="first")
    bundle.os.groups.add(name="second")
    draft = Draft(bundle, None, clusterpb.Target())
    tried = []

    def lower(item: Item) -> None:
        tried.append(item.message.name)
        put_file(draft, item, "/etc/same", b"", by="test")
        if item.message.name == "first":
            raise CannotLower(item, "not this one", remedy="leave it out")

    with pytest.raises(CannotLower, match="not this one") as given_up:
        each(draft, list(items(bundle)), lower)
    assert given_up.value.others == []
    assert tried == ["first", "second"]
    assert [file.path for file in draft.bundle.os.files] == ["/etc/same"]
