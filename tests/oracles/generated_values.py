"""What the fields of a system and of its commands may be, by grammar or by field, so that a machine can be that."""

from collections.abc import Mapping
from typing import Any

from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.bootstrapper.lowering.specs import PEM
from tests.oracles.generated_network import REMOTES, fact

HASH = "$6$salt$WKhNPNW5.DIvZ8Kw0BbkeIPzlp6c7sHzdlKg"
_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDm0t1sCzYt8Wn2o7f4dJ1c2Jr3g9m2jv4b7x0yqg3mB"
_TEXTS = (
    "",
    "one line",
    "two\nlines\n",
    "  blanks\t \n\n",
    "{{ no }} ${template} %h `x`\r\n",
    "#cloud-config\n",
    "ü \U0001f6a2\n",
)
_UNIT = "[Service]\nType=oneshot\nExecStart=/bin/true\n[Install]\nWantedBy=multi-user.target\n"


def reference(key: str) -> secretpb.SecretValue:
    return secretpb.SecretValue(secret_ref=secretpb.SecretReference(name="team-secrets", key=key))


# "@" becomes a number that is there once; the first user and the first group have the number 0.
BY_GRAMMAR: Mapping[str, tuple[str, ...]] = {
    "absolute-path": ("/etc/gen-@", "/srv/gen/deep/@/a b", "/opt/gen@/it's"),
    "account-name": ("root", "daemon"),
    "gecos": ("Plain Name", 'it\'s "quoted" $(id)'),
    "host": ("192.0.2.1", "host-@.example.com", "2001:db8::1"),
    "image": ("registry.example.com/pause:3.10",),
    "kernel-module": ("overlay", "br_netfilter", "nf_conntrack"),
    "login-shell": ("/bin/bash", "/usr/sbin/nologin"),
    "dns-label": ("gen-@",),
    "one-word": ("noauto", "x-gen.@=1"),
    "package-name": ("nothing-1", "nothing-2"),
    "package-version": ("1.2-@",),
    "registry-host": ("registry@.example.com:5000", "r@.example.com"),
    "systemd-unit": ("gen@.service", "gen-x@.service"),
    "systemd-drop-in": ("10-gen@.conf",),
    "sysctl": ("net.ipv4.ip_forward", "vm.max_map_count"),
    "time-zone": ("Europe/Berlin", "UTC"),
    "url": ("https://host@.example.com:8443/v2", "http://192.0.2.9:5000/@"),
}
BY_FIELD: Mapping[str, tuple[Any, ...]] = {
    "Content.text": _TEXTS,
    "Content.data": (b"", bytes(range(256)), b"a\r\nb"),
    "Segment.text": _TEXTS[1:],
    "Segment.data": (b"\x00\xff",),
    "TextSegment.text": ("gen", "node"),
    "MachineText.value": ("gen-node", "gen.example.com"),
    "SecretReference.name": ("team-secrets",),
    "SecretReference.key": ("word",),
    "File.remote": REMOTES,
    "Hostname.name": (
        contentpb.MachineText(value="gen.example.com"),
        fact(contentpb.FACT_KIND_SHORT_HOSTNAME, before="gen-"),
        fact(contentpb.FACT_KIND_HOSTNAME),
    ),
    "File.owner": ("root", "daemon", "user-0"),
    "File.group": ("root", "daemon", "group-0"),
    "File.mode": (0o600, 0o644, 0o755, 0o2755),
    "Directory.owner": ("root", "user-0"),
    "Directory.group": ("root", "group-0"),
    "Directory.mode": (0o700, 0o755, 0o1777),
    "Link.target": ("/etc/debian_version", "/etc/issue"),
    "Link.owner": ("root", "user-0"),
    "Link.group": ("root", "group-0"),
    "Group.name": ("group-@",),
    "Group.gid": (4200,),
    "User.name": ("user-@",),
    "User.home": ("/srv/home/@", "/home/other-@"),
    "User.primary_group": ("group-0",),
    "User.groups": ("group-0", "sudo"),
    "User.uid": (1200,),
    "User.sudo": ("ALL=(ALL) NOPASSWD:ALL", "ALL=(root) /bin/ls"),
    "User.ssh_authorized_keys": (f"{_KEY} key-@", f'command="echo @" {_KEY}'),
    "User.password_hash": (secretpb.SecretValue(value=HASH), reference("hash")),
    "Mount.source": ("LABEL=gen-@", "/dev/disk/by-label/gen@"),
    "Mount.path": ("/mnt/gen-@", "/srv/mounts/@"),
    "Mount.type": ("ext4", "xfs"),
    "Swap.path": ("/var/swap-@",),
    "Swap.size_mib": (1,),
    "SystemdUnit.contents": (_UNIT, _UNIT.replace("[Service]", "[Unit]\nDescription=100%% it's\n[Service]")),
    "SystemdDropIn.contents": ('[Service]\nEnvironment="A=%%h $x"\n', "[Unit]\nDescription=x\n"),
    "Sysctl.value": ("1", "0"),
    "KernelModule.parameters": ("hashsize=1000",),
    "RegistryCredentials.username": ("robot", 'it\'s "me"'),
    "RegistryCredentials.password": (secretpb.SecretValue(value="pass'word\""), reference("word")),
    "TrustedCertificate.certificate": (contentpb.Content(text=PEM),),
    "RegistryEndpoint.ca": (contentpb.Content(text=PEM),),
    "Command.argv": ("it's", "$HOME", "a b"),
    "Command.script": (contentpb.Content(text="set -e\necho gen@ >>/var/log/gen\n"),),
    "Command.interpreter": (planpb.INTERPRETER_SH,),
    "Command.retries": (0, 2),
    "Duration.seconds": (60,),
}
# Never in a machine here, each with its reason.
LEFT_OUT = {
    "OperatingSystem.directory": "no domain is here; `test_real_members` joins a real one",
    "OperatingSystem.default_user": "the image's own user is cloud-init's; Ignition makes none",
    "OperatingSystem.disks": "no block device is here; `generated_disks` has layouts",
    "OperatingSystem.filesystems": "no block device is here; `generated_disks` has layouts",
    "OperatingSystem.kernel_arguments": "no boot loader is here; cloud-init has none",
    "Packages.repositories": "`test_linux_repositories` has them, with one that the real apt installs from",
    "Mount.partition": "no block device is here; `disks.yaml` has some",
    "Content.config_map_ref": "stands in no bundle: the value is put in its place before",
    "Proxy.no_proxy_only": "is in no bundle: the list is complete before",
    "Segment.extension": "a text of a provisioner's own means nothing to Ignition",
    "TextSegment.extension": "a text of a provisioner's own means nothing to Ignition",
    "Command.reboot": "the machine here does not go down and up",
    "Duration.nanos": "a timeout has whole seconds",
}
ONE_OF = {
    "Content": ("text", "data", "secret_ref", "segments"),
    "File": ("content", "remote"),
    "MachineText": ("value", "segments"),
    "Command": ("argv", "script"),
    "SystemdUnit": ("contents", "masked"),
    "Mount": ("source",),
}
# What means something only together with another field.
NEEDS = {
    "Command.interpreter": "script",
    "SystemdUnit.enabled": "contents",
    "SystemdUnit.drop_ins": "contents",
    "Registry.only_endpoints": "endpoints",
    "User.lock_password": "password_hash",
}
