"""The bill of materials: what is in the image, as CycloneDX 1.6, made from the locks and the image itself.

It is a function of what it names: no time, no random serial number, so that two builds can be compared.
"""

import json
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from packaging.markers import Marker

_PIN = re.compile(r"^(?P<name>[A-Za-z0-9._-]+)==(?P<version>[^ ;\\]+)(?: ; (?P<marker>[^\\]+))?")
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_MODULE = re.compile(r"^(?P<path>\S+) (?P<version>v\S+?) (?P<hash>h1:\S+)$")
_NAMESPACE = uuid.UUID("4b1d0b55-5c2e-5a57-9a3b-9f6f7d2c1f0e")
LOCK_PROPERTY, MODULE_PROPERTY = "slipway:lock:sha256", "slipway:go.sum"


@dataclass(frozen=True, slots=True)
class Component:
    """A package of the image, or a module of a program.

    Attributes:
        name, version: its own.
        purl: package URL (github.com/package-url/purl-spec).
        properties: name and value of what a lock says of it.
    """

    name: str
    version: str
    purl: str
    properties: tuple[tuple[str, str], ...] = ()

    def tree(self) -> dict[str, Any]:
        """Return the component as CycloneDX has it."""
        tree: dict[str, Any] = {
            "type": "library", "bom-ref": self.purl, "name": self.name, "version": self.version, "purl": self.purl,
        }  # fmt: skip
        if self.properties:
            tree["properties"] = [{"name": name, "value": value} for name, value in self.properties]
        return tree


def python_packages(lock: str, environment: Mapping[str, str]) -> Iterator[Component]:
    """Return the packages of a lock of pip that an environment gets; each with the digests that the lock accepts."""
    for block in re.split(r"\n(?=\S)", lock):
        pin = _PIN.match(block)
        if pin is None or (pin["marker"] and not Marker(pin["marker"].strip()).evaluate(dict(environment))):
            continue
        name = re.sub(r"[-_.]+", "-", pin["name"]).lower()
        digests = tuple((LOCK_PROPERTY, digest) for digest in _HASH.findall(block))
        yield Component(name, pin["version"], f"pkg:pypi/{name}@{quote(pin['version'])}", digests)


def debian_packages(listing: str, release: str) -> Iterator[Component]:
    """Return the packages of a Debian release ("13") from lines of name, version and architecture."""
    for line in listing.splitlines():
        name, version, architecture = line.split()
        purl = f"pkg:deb/debian/{quote(name)}@{quote(version)}?arch={architecture}&distro=debian-{release}"
        yield Component(name, version, purl)


def go_modules(go_sum: str) -> Iterator[Component]:
    """Return the modules of a go.sum whose code is used, each with its digest."""
    for line in go_sum.splitlines():
        module = _MODULE.match(line)
        if module and not module["version"].endswith("/go.mod"):
            purl = f"pkg:golang/{quote(module['path'])}@{quote(module['version'])}"
            yield Component(module["path"], module["version"], purl, ((MODULE_PROPERTY, module["hash"]),))


def document(version: str, components: Iterable[Component], *, base: str) -> bytes:
    """Return the bill of materials of an image; `base` is the digest of the image that it was built on."""
    ordered: Sequence[Component] = sorted(set(components), key=lambda component: component.purl)
    subject = {
        "type": "container", "bom-ref": "slipway", "name": "slipway", "version": version,
        "properties": [{"name": "slipway:image:base", "value": base}],
    }  # fmt: skip
    body = {
        "metadata": {"component": subject},
        "components": [component.tree() for component in ordered],
        "dependencies": [{"ref": "slipway", "dependsOn": [component.purl for component in ordered]}],
    }
    serial = uuid.uuid5(_NAMESPACE, json.dumps(body, sort_keys=True))
    head = {"bomFormat": "CycloneDX", "specVersion": "1.6", "serialNumber": f"urn:uuid:{serial}", "version": 1}
    return json.dumps({**head, **body}, indent=1).encode() + b"\n"
