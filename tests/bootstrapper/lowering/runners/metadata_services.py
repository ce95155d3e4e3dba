"""Metadata services of all infrastructures, as a machine of a test has them, and the facts that it must find there."""

import re

from slipway.bootstrapper.lowering.facts import facts_step
from slipway.bootstrapper.lowering.runners.pieces import FACT_NAMES
from tests.bootstrapper.lowering.runners.linux_machine import LinuxMachine
from tests.bootstrapper.lowering.runners.plans import linux, lowered, note

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
