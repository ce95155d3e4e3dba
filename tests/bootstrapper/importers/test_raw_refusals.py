"""What an import keeps for cloud-init alone is refused by other formats in words of the config, never by an id."""

# ruff: noqa: E501  # the table reads best with one case a line

import json

import pytest

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from tests.bootstrapper.asking import asked, question, refused
from tests.bootstrapper.importers.carrying import carried
from tests.bootstrapper.importers.test_blame import refusals

pytestmark = pytest.mark.long

OF_MACHINE = "holds what only the machine knows, in a field that every format but cloud-init's has to know before"
VALUE = "write the value itself, or leave it out"
KEPT = [
    ("files: [{path: '/etc/{{ region }}', content: a}]", "spec.files[0].path", OF_MACHINE, VALUE),
    ("users: [{name: '{{ x }}'}]", "spec.users[0].name", OF_MACHINE, VALUE),
    ("users: [{name: a, gecos: '{{ x }}', passwdFrom: {secret: {name: ann, key: a}}}]", "spec.users[0].gecos", OF_MACHINE, VALUE),
    ("ntp: {servers: [a, '{{ x }}']}", "spec.ntp.servers[1]", OF_MACHINE, VALUE),
    ("mounts: [['{{ x }}', /data]]", "spec.mounts[0][0]", OF_MACHINE, VALUE),
    ("diskSetup: {partitions: [{device: '{{ x }}', layout: true}]}", "spec.diskSetup.partitions[0].device", OF_MACHINE, VALUE),
    ("users: [{name: a}, {name: a, gecos: x}]", "spec.users[1].name",
     "names a user that an earlier entry names, and only cloud-init merges the two",
     "write what both entries say into one, or leave it out"),
    ("mounts: [[ephemeral0]]", "spec.mounts[0]", "is one word, of which only cloud-init makes a mount",
     "write what is mounted, and where, or leave it out"),
    ("diskSetup: {filesystems: [{device: /dev/sdc, filesystem: xfs, partition: auto}]}",
     "spec.diskSetup.filesystems[0].partition",
     "has a partition found or chosen on the machine, which only cloud-init does",
     "write the number of a partition, or none for the whole disk, or leave it out"),
]  # fmt: skip
TEXTS = [
    ("joinConfiguration: {nodeRegistration: {name: '{{ x }}'}}", "spec.joinConfiguration.nodeRegistration.name"),
    ("joinConfiguration: {nodeRegistration: {kubeletExtraArgs: [{name: v, value: '{{ x }}'}]}}",
     "spec.joinConfiguration.nodeRegistration.kubeletExtraArgs[0]"),
]  # fmt: skip


@pytest.mark.parametrize("provisioner", ["ignition", "talos"])
@pytest.mark.parametrize(("spec", "path", "reason", "remedy"), KEPT, ids=[case[0] for case in KEPT])
async def test_a_kept_item_is_refused_by_the_field_that_binds_it(
    spec: str, path: str, reason: str, remedy: str, provisioner: str
) -> None:
    """Why only cloud-init takes it, and what every format takes in its place."""
    violations = await refusals(carried(spec), clusterpb.ROLE_WORKER, provisioner)
    (violation,) = [each for each in violations if each.feature.startswith("ext.")]
    assert violation.path == f"KubeadmConfig/x: {path}"
    assert violation.description == reason
    assert violation.remedy == f"{remedy}, or choose cloud-init, which takes it"


@pytest.mark.parametrize("provisioner", ["ignition", "talos"])
@pytest.mark.parametrize(("spec", "path"), TEXTS)
async def test_a_text_is_named_as_a_whole(spec: str, path: str, provisioner: str) -> None:
    """Its author wrote no segments."""
    (violation,) = await refusals(carried(spec), clusterpb.ROLE_WORKER, provisioner)
    assert violation.path == f"KubeadmConfig/x: {path}"


async def test_an_extension_of_the_spec_itself_is_named_by_its_id() -> None:
    """There the user has written it."""
    content = json.dumps(json.dumps({"key": "mounts", "item": ["a"]}))
    spec = f"{{extensions: [{{id: cloud-init.slipway.dev/item, mediaType: application/json, content: {{text: {content}}}}}]}}"
    error = await refused(asked(question(spec), "ignition"))
    assert error is not None
    assert error.violations[0].description.startswith("ext.cloud-init.slipway.dev/item is not supported")
    assert "ext.cloud-init.slipway.dev/item" in error.message
