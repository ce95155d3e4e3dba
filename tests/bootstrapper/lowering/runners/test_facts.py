"""Machine facts: every row of the table, found for real on a machine whose metadata service is a fake."""

import re

import pytest

from slipway.bootstrapper.lowering.fact_table import infrastructures, row
from slipway.bootstrapper.lowering.facts import facts_step, has_source
from slipway.bootstrapper.lowering.runners.pieces import FACT_NAMES
from slipway.contract.errors import UnsupportedFeature
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import STATE, linux, lowered, note, program, windows

KINDS = sorted(FACT_NAMES)
UUID = "0f3c1a52-77aa-4b1e-9c55-0123456789ab"
LINK_LOCAL = "http://169.254.169.254"
AWS, AZURE, GCP = (
    f"{LINK_LOCAL}/latest/meta-data",
    f"{LINK_LOCAL}/metadata/instance",
    f"{LINK_LOCAL}/computeMetadata/v1",
)
SUBSCRIPTION = "11111111-2222-3333-4444-555555555555"
AZURE_ID = "/subscriptions/%s/resourceGroups/%s/providers/Microsoft.Compute/virtualMachines/vm-1"
QUERY = "?api-version=2021-02-01&format=text"
EC2_LIKE = {
    "hostname": "vm-1.novalocal",
    "local-hostname": "vm-1.novalocal",
    "local-ipv4": "10.0.0.5",
    "public-ipv4": "203.0.113.7",
    "placement/availability-zone": "nova",
    "instance-type": "m1.large",
}

# What the metadata service answers, by URL.
ANSWERS: dict[str, dict[str, str]] = {
    "aws": {
        f"{AWS}/hostname": "ip-10-0-0-5.eu-west-1.compute.internal",
        f"{AWS}/local-hostname": "ip-10-0-0-5.eu-west-1.compute.internal",
        f"{AWS}/instance-id": "i-0123456789abcdef0",
        f"{AWS}/local-ipv4": "10.0.0.5",
        f"{AWS}/ipv6": "2001:db8::5",
        f"{AWS}/public-ipv4": "203.0.113.7",
        f"{AWS}/placement/region": "eu-west-1",
        f"{AWS}/placement/availability-zone": "eu-west-1a",
        f"{AWS}/instance-type": "m5.large",
    },
    "azure": {
        f"{AZURE}/compute/osProfile/computerName{QUERY}": "vm-1",
        f"{AZURE}/compute/vmId{QUERY}": UUID,
        f"{AZURE}/compute/resourceId{QUERY}": AZURE_ID % (SUBSCRIPTION, "My-Group_(1)"),
        f"{AZURE}/network/interface/0/ipv4/ipAddress/0/privateIpAddress{QUERY}": "10.0.0.5",
        f"{AZURE}/network/interface/0/ipv6/ipAddress/0/privateIpAddress{QUERY}": "fd00::5",
        f"{AZURE}/network/interface/0/ipv4/ipAddress/0/publicIpAddress{QUERY}": "203.0.113.7",
        f"{AZURE}/compute/location{QUERY}": "westeurope",
        f"{AZURE}/compute/zone{QUERY}": "2",
        f"{AZURE}/compute/vmSize{QUERY}": "Standard_D2s_v3",
    },
    "gcp": {
        f"{GCP}/instance/hostname": "vm-1.europe-west1-b.c.proj.internal",
        f"{GCP}/instance/id": "4520031799277581759",
        f"{GCP}/instance/name": "vm-1",
        f"{GCP}/project/project-id": "example.com:proj",
        f"{GCP}/instance/zone": "projects/12345/zones/europe-west1-b",
        f"{GCP}/instance/machine-type": "projects/12345/machineTypes/n2-standard-4",
        f"{GCP}/instance/network-interfaces/0/ip": "10.0.0.5",
        f"{GCP}/instance/network-interfaces/0/ipv6s": "2001:db8::5",
        f"{GCP}/instance/network-interfaces/0/access-configs/0/external-ip": "203.0.113.7",
    },
    "openstack": {
        **{f"{AWS}/{key}": value for key, value in EC2_LIKE.items()},
        f"{LINK_LOCAL}/openstack/latest/meta_data.json": f'{{"uuid": "{UUID}", "meta": {{"uuid": "not-this-one"}}}}',
    },
    "cloudstack": {
        f"http://data-server/latest/meta-data/{key}": value
        for key, value in {
            "local-hostname": "VM-1",
            "instance-id": UUID,
            "local-ipv4": "10.0.0.5",
            "public-ipv4": "203.0.113.7",
            "availability-zone": "zone1",
            "service-offering": "Large.Instance",
        }.items()
    },
}
HOST_FACTS = {"private-ipv4": "10.0.0.5", "ipv6": "2001:db8::5"}
NAMED = {"hostname": "node-1.example", "local-hostname": "node-1.example"}
EXPECTED: dict[str, dict[str, str]] = {
    "aws": {
        "hostname": "ip-10-0-0-5.eu-west-1.compute.internal",
        "local-hostname": "ip-10-0-0-5.eu-west-1.compute.internal",
        "instance-id": "i-0123456789abcdef0",
        "provider-id": "aws:///eu-west-1a/i-0123456789abcdef0",
        "private-ipv4": "10.0.0.5",
        "ipv6": "2001:db8::5",
        "public-ipv4": "203.0.113.7",
        "region": "eu-west-1",
        "availability-zone": "eu-west-1a",
        "instance-type": "m5.large",
    },
    "azure": {
        "hostname": "vm-1",
        "local-hostname": "vm-1",
        "instance-id": UUID,
        "provider-id": "azure://" + AZURE_ID % (SUBSCRIPTION, "my-group_(1)"),
        "private-ipv4": "10.0.0.5",
        "ipv6": "fd00::5",
        "public-ipv4": "203.0.113.7",
        "region": "westeurope",
        "availability-zone": "2",
        "instance-type": "Standard_D2s_v3",
    },
    "gcp": {
        "hostname": "vm-1.europe-west1-b.c.proj.internal",
        "local-hostname": "vm-1.europe-west1-b.c.proj.internal",
        "instance-id": "4520031799277581759",
        "provider-id": "gce://example.com:proj/europe-west1-b/vm-1",
        "private-ipv4": "10.0.0.5",
        "ipv6": "2001:db8::5",
        "public-ipv4": "203.0.113.7",
        "region": "europe-west1",
        "availability-zone": "europe-west1-b",
        "instance-type": "n2-standard-4",
    },
    "openstack": {
        "hostname": "vm-1.novalocal",
        "local-hostname": "vm-1.novalocal",
        "instance-id": UUID,
        "provider-id": f"openstack:///{UUID}",
        "private-ipv4": "10.0.0.5",
        "public-ipv4": "203.0.113.7",
        "availability-zone": "nova",
        "instance-type": "m1.large",
    },
    "cloudstack": {
        "hostname": "VM-1",
        "local-hostname": "VM-1",
        "instance-id": UUID,
        "provider-id": f"cloudstack:///{UUID}",
        "private-ipv4": "10.0.0.5",
        "public-ipv4": "203.0.113.7",
        "availability-zone": "zone1",
        "instance-type": "Large.Instance",
    },
    "vsphere": {
        "hostname": "vm-1",
        "local-hostname": "vm-1",
        "instance-id": "vm-1-id",
        "provider-id": "vsphere://4237141d-5f8a-9c11-3b2e-0a1b2c3d4e5f",
        **HOST_FACTS,
    },
    "kubevirt": {**NAMED, **HOST_FACTS},
    "docker": {**NAMED, "instance-id": "node-1.example", "provider-id": "docker:////node-1.example", **HOST_FACTS},
    "metal": {**NAMED, **HOST_FACTS},
}
# Headers without which the service refuses to answer.
HEADERS = {"aws": "X-aws-ec2-metadata-token: TOKEN", "azure": "Metadata: true", "gcp": "Metadata-Flavor: Google"}
METADATA = 'instance-id: "vm-1-id"\nlocal-hostname: "vm-1"\nnetwork:\n  version: 2\n'


def serve(machine: LinuxMachine, infrastructure: str) -> None:
    """Make the machine one of this infrastructure."""
    folder = machine.path("/metadata")
    folder.mkdir()
    for url, answer in ANSWERS.get(infrastructure, {}).items():
        (folder / re.sub(r"[^A-Za-z0-9.-]", "_", url)).write_text(answer + "\n")
    needed = HEADERS.get(infrastructure, "")
    body = f"""case "$*" in
  *PUT*token-ttl-seconds*/latest/api/token) echo TOKEN; exit ;;
  *"{needed}"*) ;;
  *) exit 22 ;;
esac
for u; do :; done
cat "/metadata/$(printf %s "$u" | sed 's/[^A-Za-z0-9.-]/_/g')" 2>/dev/null || exit 22"""
    for client in ("curl", "wget"):
        machine.fake(client, body)
    machine.fake("vmtoolsd", 'case "$*" in *encoding*) exit 1;; *) cat /metadata/guestinfo;; esac')
    (folder / "guestinfo").write_text(METADATA)
    serial = "VMware-42 37 14 1d 5f 8a 9c 11-3b 2e 0a 1B 2C 3d 4e 5f\n"
    machine.path("/sys/class/dmi/id/product_serial").write_text(serial)
    answers = "*-6*) a=2001:db8::5 ;; *default*) a= ;; *) a=10.0.0.5 ;;"
    machine.fake("ip", f'case "$*" in {answers} esac; echo "default via 10.0.0.1 dev eth0 src $a uid 0"')


def find(machine: LinuxMachine, infrastructure: str, kinds: list[int]) -> int:
    """Run the facts step alone; give the runner's exit code."""
    result = lowered([facts_step(kinds, linux(infrastructure)), note("next")])
    machine.write(result.files)
    return machine.run(result.entrypoint.argv)


def value(machine: LinuxMachine, name: str) -> str:
    """Give what the machine keeps of a fact."""
    return machine.path(f"/var/lib/slipway/facts/{name}").read_text()


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


def find_by_cloud_init(machine: LinuxMachine, infrastructure: str, kinds: list[contentpb.FactKind.ValueType]) -> int:
    """Run the facts step alone where cloud-init starts it; give the runner's exit code."""
    machine.fake("cloud-init", KNOWN)
    result = lowered([facts_step(kinds, linux(infrastructure), media_type="text/cloud-config"), note("next")])
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


def test_a_fact_that_nobody_knows_is_refused() -> None:
    """cloud-init has no word for a provider id, so that an infrastructure without a row gives none."""
    with pytest.raises(UnsupportedFeature):
        facts_step([contentpb.FACT_KIND_PROVIDER_ID], linux("nutanix"), media_type="text/cloud-config")
