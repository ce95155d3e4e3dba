"""What a command says is named where the user wrote it: file, line, and a path that stands there."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.services.cli.conftest import EXAMPLES, Slipway

pytestmark = pytest.mark.long

Write = Callable[..., Path]

CLUSTER = """apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: demo}
spec:
  cluster:
    kubernetesVersion: VERSION
    endpoint: {host: api.example.com}
    podCidrs: [PODS]
  machines:
    - name: demo-0
      role: Init
      config: one
      target: {osFamily: Linux}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: KIND
metadata: {name: one}
spec:
SPEC
"""
CAPI = EXAMPLES / "cluster-vsphere.yaml"


def cluster(
    spec: str = "  provisioner: {name: cloud-init}",
    *,
    kind: str = "SlipwayConfig",
    version: str = "v1.34.2",
    pods: str = "192.168.0.0/16",
) -> str:
    """Give a cluster of one machine."""
    text = CLUSTER.replace("VERSION", version).replace("PODS", pods)
    return text.replace("KIND", kind).replace("SPEC", spec)


TEMPLATE = "  template:\n    spec:\n      provisioner: {name: NAME}"

LINES = [
    (
        ("validate",),
        cluster(pods="10.96.0.0/16"),
        1,
        "invalid",
        "8:16",
        "SlipwayCluster/demo: spec.cluster.podCidrs[0]",
    ),
    (("render",), cluster(pods="10.96.0.0/16"), 1, "refused", "8:16", "SlipwayCluster/demo: spec.cluster.podCidrs[0]"),
    (
        ("validate",),
        cluster(version="v1.99.0"),
        0,
        "warning",
        "6:5",
        "SlipwayCluster/demo: spec.cluster.kubernetesVersion: is newer than",
    ),
    (
        ("render",),
        cluster(version="v1.99.0"),
        0,
        "warning",
        "6:5",
        "SlipwayCluster/demo: spec.cluster.kubernetesVersion: is newer than",
    ),
    (
        ("validate",),
        cluster("  optionalFeatures: [os.swap, os.package, ext.a.example.com/b]"),
        0,
        "warning",
        "19:31",
        "SlipwayConfig/one: spec.optionalFeatures[1]: is no feature that this Slipway knows; did you mean os.packages?",
    ),
    (
        ("render",),
        cluster(version="v1.21.0"),
        1,
        "refused",
        "6:5",
        "SlipwayCluster/demo: spec.cluster.kubernetesVersion: ",
    ),
    *(
        (
            (command,),
            cluster(f"  provisioner: {{name: {name}, {more}}}"),
            code,
            kind,
            "19:",
            f"SlipwayConfig/one: spec.provisioner.{field}: {message}",
        )
        for command, code, kind, name, more, field, message in (
            (
                "validate",
                0,
                "warning",
                "clod-init",
                "",
                "name",
                "no provisioner of this name comes with Slipway; did you",
            ),
            (
                "explain",
                1,
                "refused",
                "clod-init",
                "",
                "name",
                "is the name of no provisioner that is registered. Did you",
            ),
            (
                "render",
                1,
                "refused",
                "clod-init",
                "",
                "name",
                "is the name of no provisioner that is registered. Did you",
            ),
            ("validate", 0, "warning", "zzz", "", "name", "no provisioner of this name comes with Slipway; one of"),
            ("render", 1, "refused", "zzz", "", "name", "is the name of no provisioner that is registered. Choose cl"),
            (
                "render",
                1,
                "refused",
                "ignition",
                "version: 9.9.9",
                "version",
                "is not a registered version",
            ),
            (
                "explain",
                1,
                "refused",
                "ignition",
                "version: 9.9.9",
                "version",
                "is not a registered version",
            ),
            (
                "validate",
                0,
                "warning",
                "ignition",
                "format: ignition/3.3",
                "format",
                "is no format of this provisioner; did",
            ),
            (
                "render",
                1,
                "refused",
                "ignition",
                "format: ignition/3.3",
                "format",
                "is not served by provisioner ignition",
            ),
            (
                "explain",
                1,
                "refused",
                "ignition",
                "format: ignition/3.3",
                "format",
                "is not served by provisioner ignition",
            ),
        )
    ),
    (
        ("render",),
        cluster(TEMPLATE.replace("NAME", "clod-init"), kind="SlipwayConfigTemplate"),
        1,
        "refused",
        "21:21",
        "SlipwayConfigTemplate/one: spec.template.spec.provisioner.name: ",
    ),
    (
        ("render",),
        cluster("  provisioner: {name: windows}"),
        1,
        "refused",
        "13:16",
        "SlipwayCluster/demo: spec.machines[0].target.osFamily: provisioner windows is for windows machines. Choose",
    ),
    (
        ("render",),
        cluster(
            "  provisioner: {name: cloud-init}\n  target: {distribution: zzz, osFamily: Linux}\n"
            "  os: {links: [{path: /usr/local/a, target: /b}]}"
        ),
        1,
        "refused",
        "21:16",
        "SlipwayConfig/one: spec.os.links[0]: it is lowered by the machine's OS profile",
    ),
]


@pytest.mark.parametrize(("command", "text", "code", "kind", "place", "line"), LINES)
def test_a_remark_has_its_place(  # noqa: PLR0913, PLR0917  # the parts of a line
    slipway: Slipway, write: Write, command: tuple[str], text: str, code: int, kind: str, place: str, line: str
) -> None:
    """File, line and column of the field, and its path in the user's own document."""
    file = write(text)
    result = slipway(*command, "-f", file)
    assert result.exit_code == code, result.stderr
    assert re.search(rf"(?m)^{kind}: {re.escape(str(file))}:{place}\d*:? ?.*{re.escape(line)}", result.stderr)


def test_facts_of_cluster_api_are_named_in_its_objects(slipway: Slipway, write: Write) -> None:
    """A worker of Talos for a control plane of kubeadm, and networks that overlap, are matters of the Cluster."""
    result = slipway("render", "-f", CAPI, "--provisioner", "talos", "--machine", "beacon-workers")
    first = next(line for line in result.stderr.splitlines() if line.startswith("refused: "))
    assert f"{CAPI}:12:3: Cluster/beacon: spec.controlPlaneRef: the control plane" in first
    assert first.endswith("choose cloud-init or ignition, which take it")
    text = CAPI.read_text().replace("[192.168.0.0/16]", "[10.96.0.0/16]")
    result = slipway("validate", "-f", write(text))
    line = r"invalid: \S+:11:\d+: Cluster/beacon: spec.clusterNetwork.pods.cidrBlocks\[0\]: overlaps 10.96.0.0/12"
    assert re.search(line, result.stderr)


def test_what_has_no_field_has_the_place_of_its_machine(slipway: Slipway, write: Write) -> None:
    """A choice that nobody made stands nowhere, and so does the endpoint of a cluster that is not in the files."""
    file = write(cluster("  os: {}"))
    (line,) = [one for one in slipway("render", "-f", file).stderr.splitlines() if one.startswith("refused: ")]
    assert line.startswith(f"refused: {file}:10:7: demo-0: several provisioners can serve this machine")
    assert "): set spec.provisioner.name to one of them" in line
    text = re.sub(r"clusterName: .*", "clusterName: elsewhere", CAPI.read_text())
    (line,) = [one for one in slipway("validate", "-f", write(text)).stderr.splitlines() if "endpoint: is" in one]
    assert re.match(rf"invalid: {re.escape(str(file))}:\d+:\d+: beacon-workers: cluster.endpoint: is required", line)


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("cluster-*.yaml")), ids=lambda path: path.stem)
def test_explain_names_no_field_that_nobody_wrote(slipway: Slipway, example: Path) -> None:
    """Every row of an imported config is of a document, at a path that stands there or that it was derived from."""
    trees = json.loads(slipway("explain", "-f", example, "-o", "json").stdout)
    fields = {row["field"] for tree in trees for row in tree["rows"]}
    assert [field for field in fields if ": " not in field] == []
    assert [field for field in fields if re.search(r": (commands|kubernetes|os|cluster|machine)\b", field)] == []


def test_plain_values_stand_where_they_were_written(slipway: Slipway) -> None:
    """The image's own user, the repository of images: the importer's names for them are nobody's."""
    trees = json.loads(slipway("explain", "-f", CAPI, "-o", "json").stdout)
    places = {
        row["feature"]: row["field"] for tree in trees for row in tree["rows"] if tree["machine"] == "beacon-init"
    }
    assert places["os.default_user"] == "KubeadmControlPlane/beacon: spec.kubeadmConfigSpec.users"
    config = "KubeadmControlPlane/beacon: spec.kubeadmConfigSpec.clusterConfiguration"
    assert places["kubernetes.images.repository"] == f"{config}.imageRepository"
    assert "os.commands" not in places
