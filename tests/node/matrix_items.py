"""The items of the operating system and of Kubernetes that each machine of the matrix has, and what shows them."""

from collections.abc import Mapping
from typing import Any

from tests.node import documents
from tests.services.certificates import Authority

AUTHORITY = Authority().certificate.decode()
MIRROR = "https://mirror.example.com:5443"
PROXY = "http://proxy.example.com:3128"
SYSTEM: Mapping[str, Any] = {
    "users": [{"name": "sailor", "shell": "/bin/bash"}],
    "files": [
        {"path": "/etc/harbour/log", "mode": "0640", "owner": "sailor", "content": {"text": "ahoy\n"}},
        # A container of a control plane may not end by itself when all of them go down at once: else this takes 90 s.
        {
            "path": "/etc/systemd/system.conf.d/10-stop.conf",
            "content": {"text": "[Manager]\nDefaultTimeoutStopSec=10s\n"},
        },
    ],
    "sysctls": [documents.FORWARDING, {"name": "net.ipv4.tcp_keepalive_time", "value": "611"}],
    "ntp": {"servers": ["time.example.com"]},
    "trustedCertificates": [{"name": "harbour", "certificate": {"text": AUTHORITY}}],
    "proxy": {
        "httpProxy": PROXY,
        "httpsProxy": PROXY,
        "noProxy": ["127.0.0.1", "localhost", ".example.com", "10.0.0.0/8", ".svc", ".cluster.local"],
    },
    "containerd": {
        "registries": [
            {
                "host": "images.example.com",
                "endpoints": [{"url": MIRROR, "ca": {"text": AUTHORITY}}],
                "onlyEndpoints": True,
            }
        ],
        "sandboxImage": "registry.k8s.io/pause:3.10.1",
    },
}
HOOKS = {name: [{"argv": ["sh", "-c", f"echo run >>/var/count-{name}"]}] for name in ("pre", "post")}

NAME = "keeper.example.com"
NODE: Mapping[str, Any] = {
    "labels": [{"name": "harbour.example.com/berth", "value": "north"}],
    "taints": {"items": [{"key": "harbour.example.com/tide", "value": "ebb", "effect": "PreferNoSchedule"}]},
}
CONTROL_PLANE: Mapping[str, Any] = {
    "apiServerSans": [NAME],
    "apiServer": {"arguments": [{"name": "event-ttl", "value": "59m"}]},
}
"""What each machine, and each control plane, is told of Kubernetes besides."""

QUESTIONS = {
    "file": "cat /etc/harbour/log; stat -c '%U %a' /etc/harbour/log",
    "user": "getent passwd sailor | cut -d: -f1,7",
    "sysctl": "sysctl -n net.ipv4.ip_forward net.ipv4.tcp_keepalive_time",
    "time servers": (
        "systemd-analyze cat-config systemd/timesyncd.conf | grep ^NTP=. | tail -n 1; "
        "systemctl is-enabled systemd-timesyncd"
    ),
    "authority": "openssl verify -CAfile /etc/ssl/certs/ca-certificates.crt",
    "mirror": (
        "containerd config dump | grep -o '/etc/containerd/certs.d' | sort -u; "
        "ctr images pull --hosts-dir /etc/containerd/certs.d images.example.com/a:b 2>&1 "
        "| grep -oE 'https?://[^/\"]*/v2' | sort -u"
    ),
    "proxy": "tr '\\0' '\\n' </proc/$(pgrep -ox containerd)/environ | grep ^HTTPS_PROXY=",
    "hooks": "cat /var/count-pre /var/count-post",
}
"""What is asked of each machine, as a shell asks it; it gets the authority as its input.

No clock of these machines is their own, so the time service does not run: asked is the configuration that it reads.
The mirror is away: containerd's own resolver names all that it tried.
"""

PLANE_QUESTIONS = {
    "argument": "tr '\\0' '\\n' </proc/$(pgrep -ox kube-apiserver)/cmdline | grep -x -e --event-ttl=59m",
    "name": (
        f"curl -s -o /dev/null --cacert %(pki)s/ca.crt --noproxy '*' --resolve {NAME}:6443:127.0.0.1 "
        f"https://{NAME}:6443/healthz; echo $?"
    ),
    "other name": (
        "curl -s -o /dev/null --cacert %(pki)s/ca.crt --noproxy '*' --resolve stranger.example.com:6443:127.0.0.1 "
        "https://stranger.example.com:6443/healthz; echo $?"
    ),
}
PLANE_ANSWERS = {"argument": "--event-ttl=59m\n", "name": "0\n", "other name": "60\n"}
"""The same of each control plane: 60 is what curl calls a certificate that is not for the name."""

ANSWERS = {
    "file": "ahoy\nsailor 640\n",
    "user": "sailor:/bin/bash\n",
    "sysctl": "1\n611\n",
    "time servers": "NTP=time.example.com\nenabled\n",
    "authority": "stdin: OK\n",
    "mirror": f"/etc/containerd/certs.d\n{MIRROR}/v2\n",
    "proxy": f"HTTPS_PROXY={PROXY}\n",
    "hooks": "run\nrun\n",
}
