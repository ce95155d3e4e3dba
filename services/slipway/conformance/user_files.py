"""Files that the user of the suite gives: documents of extensions, and the list of checks that are known to fail.

A document of an extension is a file, an entry of a spec's `extensions`. The checks of the list are run all the same,
and must go on failing: a list that may hold what passes would hide the day on which it was repaired. One id a line, "#"
begins a comment.
"""

from collections.abc import Collection
from pathlib import Path

import yaml
from google.protobuf.json_format import ParseDict, ParseError

from slipway.contract.validation import violations
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import spec_pb2 as specpb


class ExtensionFileError(Exception):
    """The file cannot be used; the text says why."""


def read_extension(path: Path) -> specpb.Extension:
    """Give the extension in a file.

    Raises:
        ExtensionFileError: it cannot be read, or is no extension.
    """
    try:
        extension = ParseDict(yaml.safe_load(path.read_text(encoding="utf-8")), specpb.Extension())
    except (OSError, UnicodeDecodeError, yaml.YAMLError, AttributeError, TypeError) as error:
        raise ExtensionFileError(f"{path}: cannot be read: {type(error).__name__}") from None
    except ParseError as error:
        raise ExtensionFileError(f"{path}: is no extension: {error}") from None
    faults = violations(bundlepb.BootstrapBundle(extensions=[extension]))
    own = [fault for fault in faults if fault.path.startswith("extensions")]
    if own:
        raise ExtensionFileError(f"{path}: {own[0].path.removeprefix('extensions[0].')}: {own[0].description}")
    return extension


class KnownFailuresError(Exception):
    """The list cannot be used; the text says why."""


def read_known_failures(path: Path, known: Collection[str]) -> frozenset[str]:
    """Give the ids in a file.

    Raises:
        KnownFailuresError: it cannot be read, or names a check that there is not.
    """
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise KnownFailuresError(f"{path}: cannot be read: {type(error).__name__}") from None
    found = frozenset(text for line in lines if (text := line.partition("#")[0].strip()))
    unknown = sorted(found - set(known))
    if unknown:
        raise KnownFailuresError(f"{path}: there is no check {', '.join(unknown)}")
    return found
