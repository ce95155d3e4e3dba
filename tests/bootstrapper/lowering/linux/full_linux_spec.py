"""One Linux system that asks for everything that can be lowered, with values that a shell would love to interpret."""

import datetime as dt

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from slipway.contract.content import SecretIndex, literal
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb

HASH = "$6$salt$WKhNPNW5.DIvZ8Kw0BbkeIPzlp6c7sHzdlKg"
PASSWORD = 'p"w\\ü$'
SECRETS = SecretIndex(
    [
        secretpb.Secret(name="team", key="hash", value=f"{HASH}\n".encode()),
        secretpb.Secret(name="team", key="password", value=PASSWORD.encode()),
        secretpb.Secret(name="team", key="word", value=b"a secret word"),
    ]
)
KEYS = ["ssh-ed25519 AAAA ann's $(key)", "ssh-rsa BBBB"]
GECOS = 'Ann\'s "full" $(name) `id`'
FILE_NAME = "it's a $(file)"


def reference(key: str) -> secretpb.SecretReference:
    """Give a reference into SECRETS."""
    return secretpb.SecretReference(name="team", key=key)


def certificate(name: str) -> bytes:
    """Give a certificate authority in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    start = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + dt.timedelta(days=36500))
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return built.public_bytes(serialization.Encoding.PEM)


def boot_commands() -> list[planpb.Command]:
    """Give commands of every boot: one that fails stands before the last one."""
    return [
        planpb.Command(argv=["sh", "-c", 'echo "$0" >>/var/log/boots', "it's $HOME"]),
        planpb.Command(script=literal(b"exit 3\n"), redact_output=True),
        planpb.Command(
            script=contentpb.Content(
                segments=[
                    contentpb.Segment(data=b"echo '"),
                    contentpb.Segment(secret_ref=reference("word")),
                    contentpb.Segment(data=b"' >>/var/log/boots\n"),
                ]
            )
        ),
    ]


def full_spec(authorities: bytes = b"") -> ospb.OperatingSystem:
    """Give the system; `authorities` are trusted by it and by its mirror."""
    return ospb.OperatingSystem(
        groups=[ospb.Group(name="team", gid=4242), ospb.Group(name="svc", system=True)],
        users=_users(),
        files=[
            ospb.File(
                path=f"/home/ann/{FILE_NAME}",
                owner="ann",
                group="team",
                mode=0o640,
                content=literal(bytes(range(256))),
            ),
            ospb.File(path="/etc/motd", append=True, owner="root", group="root", mode=0o600, content=literal(b"more")),
        ],
        directories=[ospb.Directory(path="/srv/a b/c", owner="ann", group="svc", mode=0o2750)],
        links=[
            ospb.Link(path="/etc/soft", target="../srv/a b", owner="root", group="root"),
            ospb.Link(path="/etc/hard", target="/etc/motd", hard=True, owner="root", group="root"),
        ],
        mounts=[
            ospb.Mount(source="tmpfs", path="/mnt/a-b c", type="tmpfs", options=["size=1m"]),
            ospb.Mount(source="/dev/absent", path="/mnt/absent", options=["nofail", "x-systemd.device-timeout=1s"]),
        ],
        swaps=[ospb.Swap(path="/var/swap/it's", size_mib=1)],
        systemd_units=_units(),
        sysctls=[
            ospb.Sysctl(name="net.ipv4.ip_forward", value="1"),
            ospb.Sysctl(name="net/ipv4/conf/all/rp_filter", value="0"),
        ],
        kernel_modules=[
            ospb.KernelModule(name="br_netfilter"),
            ospb.KernelModule(name="nf_conntrack", parameters=["hashsize=1000"]),
        ],
        hostname=ospb.Hostname(name=contentpb.MachineText(value="renamed-1")),
        ntp=ospb.Ntp(servers=["ntp1.example.com"], pools=["pool.example.com"]),
        time_zone=ospb.TimeZone(name="Europe/Berlin"),
        proxy=ospb.Proxy(http_proxy="http://u:p%40w'$x@proxy.example.com:3128", no_proxy=["10.0.0.0/8", ".svc"]),
        trusted_certificates=[ospb.TrustedCertificate(name="corp", certificate=literal(authorities))],
    )


def _users() -> list[ospb.User]:
    return [
        ospb.User(
            name="ann",
            gecos=GECOS,
            groups=["team", "sudo"],
            shell="/bin/bash",
            sudo=["ALL=(ALL) NOPASSWD:ALL"],
            ssh_authorized_keys=KEYS,
            password_hash=secretpb.SecretValue(secret_ref=reference("hash")),
            lock_password=False,
        ),
        ospb.User(
            name="bob",
            uid=1777,
            primary_group="team",
            home="/srv/deep/bob",
            inactive=True,
            password_hash=secretpb.SecretValue(secret_ref=reference("hash")),
        ),
        ospb.User(name="runner", system=True, no_create_home=True, shell="/usr/sbin/nologin"),
        ospb.User(name="service", system=True),
        ospb.User(name="elsewhere", system=True, home="/srv/absent/home"),
        ospb.User(name="root", ssh_authorized_keys=KEYS[:1]),
    ]


def _units() -> list[ospb.SystemdUnit]:
    started = "[Service]\nType=oneshot\nExecStart=/bin/sh -c 'echo started >>/var/log/mine'\n"
    install = "[Install]\nWantedBy=multi-user.target\n"
    return [
        ospb.SystemdUnit(name="mine.service", contents=started + install, enabled=True),
        ospb.SystemdUnit(
            name="late.service",
            contents=f"[Unit]\nAfter=slipway-bootstrap.service\n{started}{install}",
            enabled=True,
        ),
        ospb.SystemdUnit(name="ssh.service", enabled=False),
        ospb.SystemdUnit(name="ssh.socket", masked=True),
        ospb.SystemdUnit(
            name="systemd-logind.service",
            drop_ins=[ospb.SystemdDropIn(name="10-nice.conf", contents="[Service]\nNice=5\n")],
        ),
    ]
