"""A first look at a template must not need its variables: a name says well enough what a plausible value is.

The values are obviously not real: documentation addresses (RFC 5737), reserved names (RFC 2606), a key that
is all zeros. Nothing here is a default of the product.
"""

import hashlib
import re

SSH_KEY = f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{'A' * 43} placeholder@example.com"
KUBERNETES_VERSION = "v1.34.0"
ADDRESS = "192.0.2.10"

# Templates put suffixes such as "-control-plane" behind a name, and the whole is a label of 63 characters at most.
_LONGEST_LABEL = 24
_LONGEST_NAME = 256
"""Characters of a name that rules are tried on: those with several ".*" cost the square of it."""

_RULES = [
    (r"KUBERNETES(?!.*_(NAME|URL)).*_VERSION(_UPGRADE_(FROM|TO))?", KUBERNETES_VERSION),
    (r".*_?(B64|BASE64)(_.*)?", "cGxhY2Vob2xkZXI="),
    (r"(ENABLE|DISABLE|USE)_.*|.*_(ENABLED?|DISABLED?)", "false"),
    (r".*SSH.*KEY.*NAME|.*KEY_PAIR.*|.*KEYPAIR.*", ""),
    (r".*(AUTHORIZED_KEY|PUBLIC_KEY|SSH_KEY|SSHKEY|SSH_PUB_KEY).*", SSH_KEY),
    (r".*(CONTROL_PLANE|CONTROLPLANE|MASTER).*(COUNT|REPLICAS)", "3"),
    (r".*(COUNT|REPLICAS)", "1"),
    (r".*POD.*(IPV?6.*CIDR|CIDR.*IPV?6).*", "2001:db8:1::/64"),
    (r".*(SERVICE|SVC).*(IPV?6.*CIDR|CIDR.*IPV?6).*", "2001:db8:2::/112"),
    (r".*POD.*CIDR.*", "192.168.0.0/16"),
    (r".*(SERVICE|SVC).*CIDR.*", "10.96.0.0/12"),
    (r".*CIDR.*", "10.0.0.0/16"),
    (r".*(SERVICE|DNS|CLUSTER)_DOMAIN.*", "cluster.local"),
    (r".*PORT", "6443"),
    (r".*(NAMESERVERS?|_DNS|DNS_SERVERS?|GATEWAY|NETMASK).*", "192.0.2.1"),
    (r".*(_IPS?|_VIP|IP_ADDRESS|IPADDR|ADDRESS|ENDPOINT|ENDPOINT_HOST)", ADDRESS),
    (r".*(URL|URI)", "https://placeholder.example.com"),
    (r".*(HOST|SERVER|DOMAIN|FQDN)(_NAME)?", "placeholder.example.com"),
    (r".*NAMESPACE", "default"),
    (r".*REGION", "region-1"),
    (r".*(ZONE|FAILURE_DOMAIN)", "region-1a"),
    (r".*(INTERFACE|NIC)", "eth0"),
    (r".*DISK.*_DEVICE", "/dev/vdb"),
    (r".*DISK.*_FILESYSTEM", "ext4"),
    (r".*MOUNT_?(PATH|POINT)", "/mnt/placeholder"),
    (r".*THUMBPRINT", ":".join(["00"] * 20)),
    (r".*(GIB|MIB|SIZE|CPUS|MEMORY|SECONDS)", "20"),
    (r".*_VERSION", "1.0.0"),
]


def placeholder(name: str) -> str:
    """Give a plausible value for a variable of this name; names differ where those of the variables do."""
    for pattern, value in _RULES:
        if len(name) <= _LONGEST_NAME and re.fullmatch(pattern, name, re.IGNORECASE):
            return value or _label(name)
    return _label(name)


def _label(name: str) -> str:
    """Make a DNS label of the variable's name, so that two variables never name the same object."""
    words = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
    if len(words) > _LONGEST_LABEL or words.replace("-", "_").upper() != name:
        digest = hashlib.sha256(name.encode()).hexdigest()[:8]
        words = f"{words[: _LONGEST_LABEL - len(digest) - 1]}-{digest}"
    return f"placeholder-{words}"
