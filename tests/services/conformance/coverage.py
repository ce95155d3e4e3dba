"""Which fields of the contract the suite varies, and how: what it makes of its cases for formats that take all."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from types import SimpleNamespace
from typing import cast

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from slipway.conformance import cases, requests
from slipway.conformance.answer import Answer
from slipway.conformance.changes import changed
from slipway.conformance.contract_features import known_ids
from slipway.conformance.engine_cases import engine_cases
from slipway.conformance.pairs import pairs
from slipway.conformance.richest import richest
from slipway.conformance.rounds import list_rounds, unset_rounds, value_rounds
from slipway.conformance.session import Session
from slipway.conformance.trial import Trial
from slipway.conformance.variations import lists, values, words
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

PARTS = ("os", "commands", "plan", "intent")
Ways = dict[str, set[str]]
"""Of each field, "Message.field": "case", "unset", "value", "many values", "entries", "order" and "many entries"."""

_MANY_VALUES, _MANY_ENTRIES = 5, 10
_APART = frozenset({"slipway.v1alpha1.Origin"})


def fields() -> dict[str, FieldDescriptor]:
    """Give every field of the contract that decides what a machine becomes, by "Message.field"."""
    variants: dict[str, FieldDescriptor] = {}
    pending: list[Descriptor] = []
    for part in PARTS:
        kind = bundlepb.BootstrapBundle.DESCRIPTOR.fields_by_name[part].message_type
        if kind is not None:
            pending.append(kind)
    while pending:
        holder = pending.pop()
        for field in holder.fields:
            name = f"{holder.name}.{field.name}"
            if name in variants or (field.message_type is not None and field.message_type.full_name in _APART):
                continue
            variants[name] = field
            if field.message_type is not None and field.message_type.full_name.startswith("slipway."):
                pending.append(field.message_type)
    return variants


def ways() -> Ways:
    """Give how each field is varied."""
    held: dict[str, set[str]] = defaultdict(set)
    variants: Ways = defaultdict(set)
    noted = set[tuple[str, bytes]]()
    for form, family in (
        (requests.PLAN, clusterpb.OS_FAMILY_LINUX),
        (requests.PLAN, clusterpb.OS_FAMILY_WINDOWS),
        (requests.INTENT, clusterpb.OS_FAMILY_LINUX),
    ):
        info = _format(form, family)
        trials = _trials(info)
        for trial in trials:
            for name in _names(trial.request.bundle):
                variants[name].add("case")
        for bundle in _bundles(trials, info):
            _note(bundle, held, variants, noted)
    for name, distinct in held.items():
        variants[name] |= {"value"} if len(distinct) > 1 else set()
        variants[name] |= {"many values"} if len(distinct) >= _MANY_VALUES else set()
    return variants


def _format(
    form: provisionerpb.KubernetesInput.ValueType, family: clusterpb.OsFamily.ValueType
) -> provisionerpb.FormatInfo:
    """Give a format that takes all that the contract has."""
    return provisionerpb.FormatInfo(
        format="everything", kubernetes_input=form, os_families=[family],
        default_target=clusterpb.Target(os_family=family, architecture="amd64"),
        features=[provisionerpb.FeatureSupport(id=id_) for id_ in sorted(known_ids())],
    )  # fmt: skip


def _trials(info: provisionerpb.FormatInfo) -> list[Trial]:
    base = requests.smallest(info)
    every = [*cases.cases("features"), *engine_cases(info), *cases.cases("control_plane")]
    return [
        Trial(case, cases.request(case, base, info), Answer("OK"), ()) for case in every if requests.applies(case, info)
    ]


def _bundles(trials: list[Trial], info: provisionerpb.FormatInfo) -> Iterator[bundlepb.BootstrapBundle]:
    """Give all bundles that the suite makes of the cases."""
    ordered = sorted(trials, key=lambda trial: trial.request.ByteSize())
    for order in (ordered, ordered[::-1]):
        tried: set[str] = set()
        for trial in order:
            yield from (variation.bundle for variation in values(trial.request.bundle, tried))
    several, special = set[str](), set[str]()
    for trial in ordered[::-1]:
        yield from (variation.bundle for variation in lists(trial.request.bundle, several))
        yield from (variation.bundle for variation in words(trial.request.bundle, special))
    yield from (variation.bundle for variation in pairs(ordered, info))
    edges, lengths = set[str](), set[str]()
    for request in asyncio.run(richest(_taking_everything(), info, ordered)):
        for rounds in (
            value_rounds(request.bundle, edges), list_rounds(request.bundle, lengths), unset_rounds(request.bundle),
        ):  # fmt: skip
            yield from (changed(request.bundle, changes) for changes in rounds)


def _taking_everything() -> Session:
    async def render(_: provisionerpb.RenderRequest) -> Answer:
        return Answer("OK")

    return cast(Session, SimpleNamespace(trials={}, subject=SimpleNamespace(render=render)))


def _names(message: Message) -> Iterator[str]:
    for field, value in message.ListFields():
        yield f"{message.DESCRIPTOR.name}.{field.name}"
        if field.message_type is not None:
            for entry in value if field.is_repeated else [value]:
                yield from _names(entry)


def _note(message: Message, held: dict[str, set[str]], variants: Ways, noted: set[tuple[str, bytes]]) -> None:
    """Note how the fields of a message are varied; an equal one, as most bundles have it, says nothing new."""
    key = (message.DESCRIPTOR.full_name, message.SerializeToString(deterministic=True))
    if key in noted:
        return
    noted.add(key)
    present = {field.name for field, _ in message.ListFields()}
    for field in message.DESCRIPTOR.fields:
        name = f"{message.DESCRIPTOR.name}.{field.name}"
        if field.name not in present:
            variants[name].add("unset")
            continue
        value = getattr(message, field.name)
        entries = list(value) if field.is_repeated else [value]
        if field.is_repeated:
            variants[name] |= {"entries"} if len(entries) > 1 else set()
            variants[name] |= {"many entries"} if len(entries) >= _MANY_ENTRIES else set()
            if len(entries) > 1 and "order" not in variants[name]:
                texts = [repr(entry) for entry in entries]
                variants[name] |= {"order"} if texts != sorted(texts) else set()
        for entry in entries:
            if field.message_type is not None:
                _note(entry, held, variants, noted)
            else:
                held[name].add(repr(entry))
