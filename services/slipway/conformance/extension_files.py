"""Documents of extensions that the user of the suite gives: a file each, an entry of a spec's `extensions`."""

from pathlib import Path

import yaml
from google.protobuf.json_format import ParseDict, ParseError

from slipway.contract.validation import violations
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import spec_pb2 as specpb


class ExtensionFileError(Exception):
    """The file cannot be used; the text says why."""


def read(path: Path) -> specpb.Extension:
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
