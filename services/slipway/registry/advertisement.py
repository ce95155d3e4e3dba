"""What a provisioner says of itself: whether it is well formed, and whether two instances say the same.

The contract: name, version, formats and features are facts of a version, not of a process, so a difference between two
instances means that an implementation was changed without a new version.
"""

import re
from collections.abc import Iterator
from itertools import zip_longest

from slipway.contract import validation
from slipway.contract.errors import Violation
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

MAX_NAME = 63
MAX_PROFILES = 8
MAX_BYTES = 64 * 1024
"""Most bytes of an advertisement: the list of all instances is one message, and no instance may fill it alone."""

_LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_VERSION = re.compile(r"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?", re.ASCII)
_FORMAT = re.compile(r"[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9.-]+)?")
_FEATURE = re.compile(r"[a-z][a-z0-9_./-]*")
_WORDS = {
    "secret_format": (re.compile(r"([a-z0-9][a-z0-9.-]{0,62})?").fullmatch, "must be a word of a-z, 0-9, dot and dash"),
    "media_type": (
        re.compile(r"([a-z0-9.+-]+/[a-z0-9.+-]+(; ?[a-z0-9-]+=[A-Za-z0-9._-]+)?)?").fullmatch,
        "must be a media type",
    ),
    "file_extension": (
        re.compile(r"([A-Za-z0-9]{1,16}(\.[A-Za-z0-9]{1,16})?)?").fullmatch,
        'must be a suffix such as "yaml"',
    ),
}
"""Words of which callers make file names, Secrets and headers."""


def is_name(name: str) -> bool:
    """Whether it is a DNS label or subdomain of at most 63 characters."""
    return len(name) <= MAX_NAME and _NAME.fullmatch(name) is not None


def violations(info: provisionerpb.GetProvisionerInfoResponse) -> list[Violation]:
    """Give what breaks a rule of provisioner_service.proto; paths are those of the answer."""
    return validation.bounded(_violations(info))


def differences(
    one: provisionerpb.GetProvisionerInfoResponse, other: provisionerpb.GetProvisionerInfoResponse
) -> list[str]:
    """Give the paths of the fields in which two advertisements differ, two levels deep."""
    paths = [
        descriptor.name
        for descriptor in one.DESCRIPTOR.fields
        if descriptor.name != "formats" and getattr(one, descriptor.name) != getattr(other, descriptor.name)
    ]
    for index, (mine, theirs) in enumerate(zip_longest(one.formats, other.formats)):
        if mine is None or theirs is None:
            paths.append(f"formats[{index}]")
            continue
        paths += [
            f"formats[{index}].{descriptor.name}"
            for descriptor in mine.DESCRIPTOR.fields
            if getattr(mine, descriptor.name) != getattr(theirs, descriptor.name)
        ]
    return paths


def _violations(info: provisionerpb.GetProvisionerInfoResponse) -> Iterator[Violation]:
    if info.ByteSize() > MAX_BYTES:
        yield Violation("", f"the advertisement must have at most {MAX_BYTES} bytes")
        return
    if not is_name(info.name):
        yield Violation("name", f"must be a DNS label or subdomain of at most {MAX_NAME} characters")
    if not _VERSION.fullmatch(info.implementation_version):
        yield Violation("implementation_version", "must be a semantic version")
    if not info.features_advertised:
        yield Violation("features_advertised", "must be set: without it an empty list of features means nothing")
    if not info.formats:
        yield Violation("formats", "must not be empty")
    seen: set[str] = set()
    for index, served in enumerate(info.formats):
        path = f"formats[{index}]"
        if served.format in seen:
            yield Violation(f"{path}.format", "must not be served twice")
        seen.add(served.format)
        yield from _format_violations(served, path)


def _format_violations(served: provisionerpb.FormatInfo, path: str) -> Iterator[Violation]:
    if not _FORMAT.fullmatch(served.format):
        yield Violation(f"{path}.format", "must be a format id: NAME or NAME/VERSION")
    for name, (matches, rule) in _WORDS.items():
        if not matches(getattr(served, name)):
            yield Violation(f"{path}.{name}", rule)
    if served.kubernetes_input not in (provisionerpb.KUBERNETES_INPUT_PLAN, provisionerpb.KUBERNETES_INPUT_INTENT):
        yield Violation(f"{path}.kubernetes_input", "must be PLAN or INTENT")
    if not served.os_families or clusterpb.OS_FAMILY_UNSPECIFIED in served.os_families:
        yield Violation(f"{path}.os_families", "must not be empty, nor hold the unspecified value")
    ids: set[str] = set()
    for number, feature in enumerate(served.features):
        where = f"{path}.features[{number}].id"
        if not _FEATURE.fullmatch(feature.id):
            yield Violation(where, "must be a feature id such as os.files.append")
        if feature.id in ids:
            yield Violation(where, "must not be declared twice")
        ids.add(feature.id)
    yield from _profile_violations(served, path)


def _profile_violations(served: provisionerpb.FormatInfo, path: str) -> Iterator[Violation]:
    if len(served.os_profiles) > MAX_PROFILES:
        yield Violation(f"{path}.os_profiles", f"must have at most {MAX_PROFILES} entries")
        return
    distributions: set[str] = set()
    for number, profile in enumerate(served.os_profiles):
        where = f"{path}.os_profiles[{number}]"
        yield from validation.violations(profile, path=where)
        if profile.os_family not in served.os_families:
            yield Violation(f"{where}.os_family", "must be one of os_families")
        if profile.distribution in distributions:
            yield Violation(f"{where}.distribution", "must not be declared twice")
        distributions.add(profile.distribution)
        if profile.versions and profile.default_version not in {version.version for version in profile.versions}:
            yield Violation(f"{where}.default_version", "must be one of versions")
