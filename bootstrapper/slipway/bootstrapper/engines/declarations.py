"""What an engine must declare about itself before anything can be made of it.

It is checked where an engine of another package is loaded, and by the test kit; ours are covered by our tests.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.join_tokens import JoinTokens
from slipway.contract.grammars import grammars
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_VERSION = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9}){0,2}([-+][0-9A-Za-z.+-]{1,64})?")
_OS_FAMILIES = frozenset({clusterpb.OS_FAMILY_LINUX, clusterpb.OS_FAMILY_WINDOWS})


def broken_declarations(engine: Engine) -> Iterator[str]:
    """Give every declaration of an engine that is missing or malformed, each as the end of a sentence about it."""
    sound = True
    for name, (check, form) in _FORMS.items():
        if not hasattr(engine, name):
            yield f"it declares no {name}"
        elif not check(getattr(engine, name)):
            yield f"its {name} is not {form}"
        else:
            continue
        sound = False
    if not sound:
        return
    if engine.newest < engine.oldest:
        yield "its newest version of Kubernetes is older than its oldest"
    ids = [support.id for support in engine.features]
    yield from (f"it declares the feature {id_} twice" for id_ in sorted({id_ for id_ in ids if ids.count(id_) > 1}))


def is_name(value: object) -> bool:
    """Whether a value can be the name of an engine."""
    return isinstance(value, str) and grammars()["dns-label"].check(value)


def _is_version(value: object) -> bool:
    return isinstance(value, str) and _VERSION.fullmatch(value) is not None


def _is_series(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(type(part) is int and part >= 0 for part in value)  # noqa: PLR2004  # major and minor


def _are_families(value: object) -> bool:
    return isinstance(value, Sequence) and len(value) > 0 and _OS_FAMILIES.issuperset(value)


def _are_features(value: object) -> bool:
    return isinstance(value, Sequence) and all(
        isinstance(entry, provisionerpb.FeatureSupport) and entry.id for entry in value
    )


def _are_texts(value: object) -> bool:
    return (
        isinstance(value, Collection)
        and not isinstance(value, str | bytes)
        and all(isinstance(entry, str) and entry for entry in value)
    )


def _are_texts_by_text(value: object) -> bool:
    return isinstance(value, Mapping) and _are_texts(value) and _are_texts(list(value.values()))


def _is_bool(value: object) -> bool:
    return isinstance(value, bool)


_FORMS: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "name": (is_name, "a DNS label: lower-case letters, digits and dashes, at most 63"),
    "version": (_is_version, "a version such as 0.1.0"),
    "oldest": (_is_series, "a minor version of Kubernetes such as (1, 30)"),
    "newest": (_is_series, "a minor version of Kubernetes such as (1, 36)"),
    "os_families": (_are_families, "a sequence of OS_FAMILY_LINUX and OS_FAMILY_WINDOWS"),
    "features": (_are_features, "a sequence of features, each with an id"),
    "remedies": (_are_texts_by_text, "a mapping of features to texts"),
    "join_tokens": (lambda value: isinstance(value, JoinTokens), "an instance of JoinTokens"),
    "distributions": (_are_texts, "a collection of distributions"),
    "unserved": (_are_texts_by_text, "a mapping of distributions to reasons"),
    "plans_by_class": (_is_bool, "True or False"),
    "own_minor_only": (_is_bool, "True or False"),
}
"""By attribute of Engine, what it must be."""
