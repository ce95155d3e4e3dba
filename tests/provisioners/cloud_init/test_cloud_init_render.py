"""The document as a whole: what a text is in it, its features, and what it is when nothing is asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.errors import SlipwayError
from slipway.contract.feature_uses import uses
from slipway.contract.features import unsupported
from slipway.provisioners.cloud_init.features import ITEM, JINJA, PARTITION_SEARCH, cloud_config
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk import ProvisionerCore, testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.cloud_init.documents import document


def test_an_empty_bundle_starts_the_entry_point_and_nothing_else() -> None:
    """No key is there that nobody asked for: each one would switch a module on."""
    assert document(testing.bundle()) == {
        "write_files": [
            {
                "path": "/var/lib/cloud/scripts/per-boot/slipway",
                "permissions": "0755",
                "content": "#!/bin/sh\nexec sh /etc/slipway/run\n",
            }
        ]
    }


def test_the_rest() -> None:
    """Host name (both keys, for distributions differ), time zone and packages."""
    system = ospb.OperatingSystem(
        hostname=ospb.Hostname(name=contentpb.MachineText(value="node.example.com")),
        time_zone=ospb.TimeZone(name="Europe/Berlin"),
        packages=ospb.Packages(
            install=[ospb.Package(name="curl"), ospb.Package(name="jq", version="1.6")], update=True, upgrade=False
        ),
    )
    seen = document(system)
    del seen["write_files"]
    assert seen == {
        "hostname": "node.example.com",
        "fqdn": "node.example.com",
        "timezone": "Europe/Berlin",
        "package_update": True,
        "packages": ["curl", ["jq", "1.6"]],
    }


WORDS = ["yes", "No", "ON", "null", "~", "1", "0x1f", "1e3", "1:30", "2024-01-01", "=", "<<", "true", "y", "", "a: b"]


@pytest.mark.parametrize("word", WORDS)
def test_words_stay_words(word: str) -> None:
    """A text that YAML 1.1 takes for something else is quoted."""
    user = ospb.User(name="a", gecos=word, groups=[word or "x"])
    entry = document(ospb.OperatingSystem(users=[user]))["users"][1]
    assert entry["gecos"] == word
    assert entry["groups"] == [word or "x"]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30))
def test_any_text_stays_a_text(text: str) -> None:
    """Whatever a text is, it comes back as that text."""
    assert document(ospb.OperatingSystem(users=[ospb.User(name="a", gecos=text)]))["users"][1]["gecos"] == text


def test_rendering_is_deterministic() -> None:
    """The same request gives the same bytes, also from a bundle that was sent and read again."""
    files = [testing.file(f"/etc/{index}", b"x" * index, mode=index) for index in range(9)]
    of = testing.bundle(ospb.OperatingSystem(files=files, users=[ospb.User(name="a")]))
    again = bundlepb.BootstrapBundle.FromString(of.SerializeToString())
    assert testing.render(CloudInit(), of) == testing.render(CloudInit(), again)


def test_every_declared_feature_exists() -> None:
    """An id that no field gives would be a promise about nothing."""
    declared = {support.id for info in CloudInit().formats() for support in info.features}
    known = {use.id for of in testing.one_field_bundles() for use in uses(of)}
    assert declared - known == {f"ext.{ITEM}", f"ext.{JINJA}", f"ext.{PARTITION_SEARCH}"}


def test_whatever_is_set_is_rendered_or_refused() -> None:
    """With any one field set, even a nonsensical one, the answer is user data or an error with a reason.

    Where the field uses a feature that is not declared, it is a refusal.
    """
    declared = {support.id for info in CloudInit().formats() for support in info.features}
    core = ProvisionerCore(CloudInit())
    outcomes = {"rendered": 0, "refused": 0}
    for of in testing.one_field_bundles():
        undeclared = {use.id for use in uses(of)} - declared
        try:
            core.render_now(testing.request(CloudInit(), of))
        except SlipwayError:
            outcomes["refused"] += 1
        else:
            outcomes["rendered"] += 1
            assert not undeclared
    assert min(outcomes.values()) > 50


def outside(packages: ospb.Packages) -> list[str]:
    """Give the paths that the format does not take."""
    bundle = bundlepb.BootstrapBundle(os=ospb.OperatingSystem(packages=packages))
    return [feature.use.path for feature in unsupported(bundle, cloud_config().features)]


def test_an_index_that_must_not_be_refreshed_is_lowered() -> None:
    """cloud-init refreshes it before every installation; `package_update: false` does not keep it from that."""
    assert outside(ospb.Packages(update=False)) == ["os.packages.update"]
    assert outside(ospb.Packages(update=True)) == []
    assert outside(ospb.Packages(upgrade=False)) == []
