"""Files of an imported config that hold facts of the machine, written by the first-boot system itself, as today.

The runner writes a file with facts late in the first boot: users whose homes are made from /etc/skel, and services that
the image starts, do not see it. What reads the user data of an imported config has names for the same facts, which
stood in that config, so that it can write the file in time.
"""

import re
from collections.abc import Collection, Sequence

from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.first_boot import InstanceFacts, facts_of_reader
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_SET_ID_BITS = 0o7000
_PLAIN = re.compile(rb"[\x20-\x7e\n]*")
"""What stands in a document as it is, whatever its language, but for blanks at the end of a line."""


def name_facts(draft: Draft, supports: Sequence[provisionerpb.FeatureSupport], media_type: str) -> Draft | None:
    """Put the reader's own templates for facts into the files of an imported config.

    Returns:
        The draft as it was; None where nothing has changed.
    """
    reader = facts_of_reader(media_type)
    if reader is None or not draft.bundle.execution.literal_commands or draft.target.infrastructure in reader.not_on:
        return None
    if not {"os.files.extensions", f"ext.{reader.language}"} <= {support.id for support in supports}:
        return None
    chosen = [index for index, file in enumerate(draft.bundle.os.files) if _can_be_early(file, reader)]
    before = draft.copy() if chosen else None
    for index in chosen:
        for segment in draft.bundle.os.files[index].content.segments:
            if segment.HasField("fact"):
                text = _template(reader, segment.fact.kind)
                segment.Clear()
                segment.extension.CopyFrom(contentpb.ExtensionText(id=reader.language, text=text))
    return before


def forget_names(draft: Draft, rejected: Collection[str], media_type: str) -> None:
    """Put the facts back into files that the provisioner has refused after all."""
    reader = facts_of_reader(media_type)
    if reader is None or not draft.bundle.execution.literal_commands:
        return
    kinds = {_template(reader, kind): kind for kind in contentpb.FactKind.values() if reader.only_name(kind)}
    for index, file in enumerate(draft.bundle.os.files):
        for segment in file.content.segments if f"os.files[{index}]" in rejected else ():
            if segment.extension.id == reader.language and segment.extension.text in kinds:
                segment.fact.kind = kinds[segment.extension.text]


def _can_be_early(file: ospb.File, reader: InstanceFacts) -> bool:
    """Whether a file with facts is one of the config's, and such that the reader has no reason to refuse it."""
    segments = file.content.segments
    facts = [segment for segment in segments if segment.HasField("fact")]
    if not facts or not all(reader.only_name(segment.fact.kind) for segment in facts):
        return False
    if any(segment.encoding > contentpb.SPLICE_ENCODING_RAW for segment in segments):
        return False
    if file.append or file.origin.made_by or file.mode & _SET_ID_BITS:
        return False
    if file.owner.isdecimal() or file.group.isdecimal():
        return False
    if not all(segment.HasField("fact") or segment.HasField("data") for segment in segments):
        return False
    text = b"".join(segment.data or b"x" for segment in segments)
    return _PLAIN.fullmatch(text) is not None and b" \n" not in text and not text.endswith(b" ")


def _template(reader: InstanceFacts, kind: contentpb.FactKind.ValueType) -> str:
    return reader.template.replace("NAME", reader.only_name(kind))
