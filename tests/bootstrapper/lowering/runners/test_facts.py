"""Machine facts: every row of the table, found for real on a machine whose metadata service is a fake."""

import re

import pytest

from slipway.bootstrapper.lowering.fact_table import infrastructures, row
from slipway.bootstrapper.lowering.facts import facts_step, has_source
from slipway.bootstrapper.lowering.runners.lower_steps import lower_steps
from slipway.bootstrapper.lowering.runners.pieces import FACT_NAMES
from slipway.contract.errors import UnsupportedFeature
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.metadata_services import (
    ANSWERS,
    AWS,
    EXPECTED,
    HOST_FACTS,
    KINDS,
    METADATA,
    UUID,
    find,
    serve,
    value,
)
from tests.bootstrapper.lowering.runners.plans import STATE, fact, linux, lowered, note, program, windows

pytestmark = pytest.mark.long


@pytest.mark.parametrize("infrastructure", infrastructures())
def test_every_row_gives_its_fact(machine: LinuxMachine, infrastructure: str) -> None:
    """All facts that have a row for Linux are found, and no expectation is left over."""
    serve(machine, infrastructure)
    kinds = [kind for kind in KINDS if has_source(kind, linux(infrastructure))]
    expected = dict(EXPECTED[infrastructure])
    expected["short-hostname"] = expected["local-hostname"].partition(".")[0]
    if machine.shell == "busybox" and infrastructure not in ANSWERS:
        # Its `ip` is built in: there can be no fake, and the real answers differ from machine to machine.
        kinds = [kind for kind in kinds if FACT_NAMES[kind] not in HOST_FACTS]
        expected = {name: one for name, one in expected.items() if name not in HOST_FACTS}
    assert find(machine, infrastructure, kinds) == 0, machine.calls
    assert {FACT_NAMES[kind]: value(machine, FACT_NAMES[kind]) for kind in kinds} == expected
    facts = machine.path("/var/lib/slipway/facts")
    assert {path.stat().st_mode & 0o777 for path in facts.iterdir()} == {0o600}


MALFORMED = [
    ("nothing at all", ""),
    ("an error page", "<html>\n<body>no such key</body>\n</html>"),
    ("two lines", "vm-1\nvm-2"),
    ("a blank in it", "vm-1 vm-2"),
    ("a quote that would end a string", 'vm-1", "x": "y'),
    ("shell syntax", "$(reboot)"),
    ("not ASCII", "vm-ü"),
    ("a leading dash", "-vm"),
]


@pytest.mark.parametrize(("reason", "answer"), MALFORMED, ids=[row[0] for row in MALFORMED])
def test_a_malformed_value_fails_the_phase(machine: LinuxMachine, reason: str, answer: str) -> None:
    """After all attempts the bootstrap stops, and neither the value nor a guess is kept."""
    serve(machine, "openstack")
    url = f"{AWS}/local-hostname"
    machine.path("/metadata/" + re.sub(r"[^A-Za-z0-9.-]", "_", url)).write_text(answer)
    assert find(machine, "openstack", [contentpb.FACT_KIND_LOCAL_HOSTNAME]) != 0, reason
    assert not machine.path("/var/lib/slipway/facts/local-hostname").exists()
    assert not machine.path("/ran").exists()
    assert machine.calls.count("sleep 2") == 29
    assert "local-hostname" in machine.path(f"{STATE}/machine-facts.failed").read_text()


def test_a_service_that_comes_up_late_is_waited_for(machine: LinuxMachine) -> None:
    """A failing source is asked again."""
    serve(machine, "gcp")
    body = machine.path("/fake/curl").read_text().splitlines()
    late = ["#!/bin/sh", body[1], "[ $(grep -c -e ^curl -e ^wget /calls) -gt 3 ] || exit 7", *body[2:]]
    for client in ("curl", "wget"):
        machine.path(f"/fake/{client}").write_text("\n".join(late).replace("curl $*", f"{client} $*") + "\n")
    assert find(machine, "gcp", [contentpb.FACT_KIND_INSTANCE_ID]) == 0
    assert machine.calls.count("sleep 2") == 3


def test_a_host_name_that_is_not_set_yet_is_no_fact(machine: LinuxMachine) -> None:
    """Localhost is what a machine is called before somebody has told it its name."""
    serve(machine, "metal")
    machine.host_name = "localhost.localdomain"
    assert find(machine, "metal", [contentpb.FACT_KIND_HOSTNAME]) != 0


ENCODED = [
    ("base64", "base64"),
    ("base64 and compressed", "gzip+base64"),
    ("as it is", ""),
]


@pytest.mark.parametrize(("reason", "encoding"), ENCODED, ids=[row[0] for row in ENCODED])
@pytest.mark.parametrize(
    "document", [METADATA, '{"local-hostname": "vm-1", "instance-id": "vm-1-id"}\n'], ids=["yaml", "json"]
)
def test_vsphere_metadata_in_all_its_forms(machine: LinuxMachine, reason: str, encoding: str, document: str) -> None:
    """YAML or JSON, plain or encoded: the host name is found."""
    serve(machine, "vsphere")
    machine.path("/metadata/guestinfo").write_text(document)
    filters = {"base64": "| base64", "gzip+base64": "| gzip | base64", "": ""}[encoding]
    machine.fake(
        "vmtoolsd", f'case "$*" in *encoding*) echo "{encoding}";; *) cat /metadata/guestinfo {filters};; esac'
    )
    assert find(machine, "vsphere", [contentpb.FACT_KIND_LOCAL_HOSTNAME]) == 0, reason
    assert value(machine, "local-hostname") == "vm-1"


def test_cloudstack_without_its_well_known_name(machine: LinuxMachine) -> None:
    """Where the name does not resolve, the default gateway is asked."""
    if machine.shell == "busybox":
        pytest.skip("there can be no fake of ip")
    serve(machine, "cloudstack")
    for path in list(machine.path("/metadata").iterdir()):
        path.rename(path.with_name(path.name.replace("data-server", "10.0.0.1")))
    assert find(machine, "cloudstack", [contentpb.FACT_KIND_INSTANCE_ID]) == 0
    assert value(machine, "instance-id") == UUID


def test_facts_of_an_earlier_machine_are_not_believed(machine: LinuxMachine) -> None:
    """An image made of a bootstrapped machine holds that machine's facts: a new bundle finds its own."""
    serve(machine, "metal")
    machine.path("/var/lib/slipway/facts").mkdir(parents=True)
    machine.path("/var/lib/slipway/facts/hostname").write_text("earlier-machine")
    assert find(machine, "metal", [contentpb.FACT_KIND_HOSTNAME]) == 0
    assert value(machine, "hostname") == "node-1.example"


@pytest.mark.parametrize("infrastructure", infrastructures())
def test_no_grammar_lets_a_dangerous_character_through(infrastructure: str) -> None:
    """No value can end a string, a line or a word: that is why facts need no escaping on the machine."""
    for name, good in EXPECTED[infrastructure].items():
        kind = next(kind for kind in KINDS if FACT_NAMES[kind] == name)
        source = row(kind, infrastructure=infrastructure, os_family=clusterpb.OS_FAMILY_LINUX)
        assert source is not None
        grammar = re.compile(source.grammar)
        assert grammar.fullmatch(good)
        for bad in "\"'\\ \t\r\n\0$`;&|<>*?#%{}!,é":
            for place in range(len(good) + 1):
                assert not grammar.fullmatch(good[:place] + bad + good[place:]), (name, bad)


REFUSED = [
    ("vSphere has no regions", linux("vsphere"), contentpb.FACT_KIND_REGION),
    ("metal has no provider id", linux("metal"), contentpb.FACT_KIND_PROVIDER_ID),
    ("an unknown infrastructure has nothing", linux("moonbase"), contentpb.FACT_KIND_HOSTNAME),
    ("no infrastructure is named", linux(""), contentpb.FACT_KIND_HOSTNAME),
    ("Windows on docker does not exist", windows("docker"), contentpb.FACT_KIND_HOSTNAME),
    ("Windows on OpenStack has only its name", windows("openstack"), contentpb.FACT_KIND_INSTANCE_ID),
    ("no family", clusterpb.Target(infrastructure="aws"), contentpb.FACT_KIND_HOSTNAME),
]


@pytest.mark.parametrize(("reason", "target", "kind"), REFUSED, ids=[row[0] for row in REFUSED])
def test_no_row_is_a_refusal(reason: str, target: clusterpb.Target, kind: contentpb.FactKind.ValueType) -> None:
    """What the table does not know is refused before any machine exists."""
    assert not has_source(kind, target), reason
    with pytest.raises(UnsupportedFeature, match=FACT_NAMES[kind]):
        facts_step([kind], target)


def test_facts_are_looked_for_only_when_something_needs_them() -> None:
    """A plan without facts has no such step."""
    assert not [file for file in lowered([program("a", "true")]).files if "facts" in file.path]


KNOWN = """case "$*" in
  "query ds.meta_data.local_hostname") echo node-1.example.com ;;
  "query v1.local_hostname") echo node-1 ;;
  "query ds.meta_data.instance_id") echo "not of the form" ;;
  *) exit 1 ;;
esac"""


def find_by_cloud_init(
    machine: LinuxMachine, infrastructure: str, kinds: list[contentpb.FactKind.ValueType], *, imported: bool = False
) -> int:
    """Run the facts step alone where cloud-init starts it; give the runner's exit code."""
    machine.fake("cloud-init", KNOWN)
    step = facts_step(kinds, linux(infrastructure), media_type="text/cloud-config", imported=imported)
    result = lowered([step, note("next")])
    machine.write(result.files)
    return machine.run(result.entrypoint.argv)


@pytest.mark.parametrize("infrastructure", ["openstack", "nutanix", ""])
def test_cloud_init_knows_what_nobody_else_answers(machine: LinuxMachine, infrastructure: str) -> None:
    """Without a metadata service, or a row at all, the names are those that cloud-init's templates give, whole."""
    kinds = [contentpb.FACT_KIND_LOCAL_HOSTNAME, contentpb.FACT_KIND_SHORT_HOSTNAME]
    assert find_by_cloud_init(machine, infrastructure, kinds) == 0, machine.calls
    assert value(machine, "local-hostname") == "node-1.example.com"
    assert value(machine, "short-hostname") == "node-1"


def test_the_infrastructure_is_asked_first(machine: LinuxMachine) -> None:
    """What the metadata service answers counts, whatever cloud-init was given as a name."""
    serve(machine, "aws")
    kinds = [contentpb.FACT_KIND_INSTANCE_ID, contentpb.FACT_KIND_PRIVATE_IPV4, contentpb.FACT_KIND_LOCAL_HOSTNAME]
    assert find_by_cloud_init(machine, "aws", kinds) == 0, machine.calls
    assert value(machine, "local-hostname") == EXPECTED["aws"]["local-hostname"]
    assert value(machine, "instance-id") == EXPECTED["aws"]["instance-id"]
    assert value(machine, "private-ipv4") == EXPECTED["aws"]["private-ipv4"]


@pytest.mark.parametrize("infrastructure", ["aws", "metal", "nutanix"])
def test_an_imported_config_has_what_its_templates_had(machine: LinuxMachine, infrastructure: str) -> None:
    """Whatever the infrastructure answers, the node has the name that cloud-init would have filled in."""
    serve(machine, infrastructure)
    kinds = [contentpb.FACT_KIND_LOCAL_HOSTNAME, contentpb.FACT_KIND_SHORT_HOSTNAME]
    assert find_by_cloud_init(machine, infrastructure, kinds, imported=True) == 0, machine.calls
    assert value(machine, "local-hostname") == "node-1.example.com"
    assert value(machine, "short-hostname") == "node-1"


def test_an_imported_config_asks_the_infrastructure_where_cloud_init_knows_nothing(machine: LinuxMachine) -> None:
    """What cloud-init has no value of the form for comes from the infrastructure's program."""
    serve(machine, "aws")
    kinds = [contentpb.FACT_KIND_INSTANCE_ID, contentpb.FACT_KIND_PRIVATE_IPV4]
    assert find_by_cloud_init(machine, "aws", kinds, imported=True) == 0, machine.calls
    assert value(machine, "instance-id") == EXPECTED["aws"]["instance-id"]
    assert value(machine, "private-ipv4") == EXPECTED["aws"]["private-ipv4"]


def test_only_a_config_that_was_imported_asks_cloud_init_first() -> None:
    """The policy of the plan decides; a spec of ours has the infrastructure's facts, whatever reads the user data."""
    content = contentpb.Content(segments=[fact(contentpb.FACT_KIND_LOCAL_HOSTNAME)])
    needing = planpb.Step(id="a", phase=planpb.PHASE_BOOTSTRAP, command=planpb.Command(script=content))
    for policy, word in ((None, "known"), (planpb.ExecutionPolicy(literal_commands=True), "as_template")):
        result = lower_steps(
            [needing], bundle_id="bundle-1", target=linux(), policy=policy, media_type="text/cloud-config"
        )
        texts = b"".join(segment.data for file in result.files for segment in file.content.segments)
        assert f" {word} ds.meta_data.local_hostname host\n".encode() in texts


def test_a_fact_that_nobody_knows_is_refused() -> None:
    """cloud-init has no word for a provider id, so that an infrastructure without a row gives none."""
    with pytest.raises(UnsupportedFeature):
        facts_step([contentpb.FACT_KIND_PROVIDER_ID], linux("nutanix"), media_type="text/cloud-config")
