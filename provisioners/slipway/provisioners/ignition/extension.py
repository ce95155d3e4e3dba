"""The extension `ignition.slipway.dev/config`: a config of the user's, merged by Ignition itself.

It travels as a nested config, so that the rules of the merge are Ignition's own: entries with the same key are merged
and the nested one wins. That must not touch what the bundle itself needs, so a common path or unit is refused.
"""

import re
from collections.abc import Iterator
from typing import Any

from slipway.contract.bounded_json import TooManyValuesError, read_json
from slipway.contract.errors import BundleInvalid, Violation
from slipway.provisioners.ignition.document import Resource, resource
from slipway.provisioners.ignition.features import EXTENSION
from slipway.sdk import RenderContext
from slipway.v1alpha1 import bundle_pb2 as bundlepb

_MEDIA_TYPES = frozenset({"application/vnd.coreos.ignition+json", "application/json"})
_FEATURE = f"ext.{EXTENSION}"
_MOST_VALUES = 100_000
"""Of one config. A bundle of 2 MiB of small values would be 90 MiB of objects, for each call at the same time."""

_LISTS = (
    ("storage", "files", "path"),
    ("storage", "directories", "path"),
    ("storage", "links", "path"),
    ("systemd", "units", "name"),
)


def nested_configs(
    bundle: bundlepb.BootstrapBundle, ctx: RenderContext, *, spec: str, reserved: frozenset[str]
) -> list[Resource]:
    """Give the configs to merge. `reserved` are the paths and unit names that are the bundle's own."""
    nested = []
    for index, extension in enumerate(bundle.extensions):
        path = f"extensions[{index}]"
        if extension.media_type.partition(";")[0] not in _MEDIA_TYPES:
            remedy = "translate it with butane, and set application/vnd.coreos.ignition+json"
            ctx.refuse(f"{path}.media_type", _FEATURE, "must be JSON", remedy=remedy)
            continue
        data = ctx.content(extension.content, f"{path}.content")
        config = _parsed(data, f"{path}.content")
        if not _is_compatible(config, spec):
            remedy = "choose the format of that version, or write the config for this one"
            why = f"its ignition.version must be of spec {spec} or older"
            ctx.refuse(f"{path}.content", _FEATURE, why, remedy=remedy)
        for where, key in _keys(config):
            if key in reserved:
                remedy = "leave it to one of them: the extension, or the rest of the spec"
                ctx.refuse(f"{path}.content:{where}", _FEATURE, "the bundle has an entry for the same", remedy=remedy)
        # Spec 2 has no word for packing here.
        made = resource(data, pack=not spec.startswith("2."))
        if made in nested:
            ctx.refuse(f"{path}.content", _FEATURE, "is the same config as an earlier one", remedy="leave it out")
            continue
        nested.append(made)
    return nested


def _parsed(data: bytes, path: str) -> dict[str, Any]:
    try:
        config: object = read_json(data, most_values=_MOST_VALUES)
    except TooManyValuesError as error:
        raise BundleInvalid("an extension cannot be read", violations=[Violation(path, str(error))]) from None
    except ValueError:
        config = None
    if not isinstance(config, dict):
        raise BundleInvalid("an extension cannot be read", violations=[Violation(path, "must be a JSON object")])
    return config


def _is_compatible(config: dict[str, Any], spec: str) -> bool:
    about: Any = config.get("ignition")
    version = str(about.get("version")) if isinstance(about, dict) else ""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        return False
    own, most = ([int(part) for part in text.split(".")] for text in (version, spec))
    return own[0] == most[0] and own <= most


def _keys(config: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Give what must be unique in a merged config, with the place where it stands."""
    for section, name, key in _LISTS:
        part: Any = config.get(section)
        entries = part.get(name) if isinstance(part, dict) else None
        for index, entry in enumerate(entries if isinstance(entries, list) else ()):
            if isinstance(entry, dict) and isinstance(entry.get(key), str):
                yield f"{section}.{name}[{index}]", entry[key]
