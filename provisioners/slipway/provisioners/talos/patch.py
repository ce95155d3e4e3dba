"""The extension "talos.slipway.dev/patch": strategic merge as Talos' own patcher does it.

It is done here and not on the machine, because what reaches the machine is one configuration. Source:
pkg/machinery/config/merge, config/configpatcher and the `$patch: delete` selectors of the config loader.
"""

from typing import Any

from slipway.provisioners.talos.yaml_text import Spelling

_MAIN = ("v1alpha1", "", "")
# Lists that are merged by a key of their entries, and values that are replaced as a whole.
_BY_KEY = {
    ("machine", "network", "interfaces"): ("interface", "deviceSelector"),
    ("machine", "network", "interfaces", "vlans"): ("vlanId",),
    ("cluster", "apiServer", "admissionControl"): ("name",),
    ("ExtensionServiceConfig", "configFiles"): ("mountPath",),
}
_REPLACED = frozenset(
    {
        ("cluster", "network", "podSubnets"),
        ("cluster", "network", "serviceSubnets"),
        ("cluster", "apiServer", "auditPolicy"),
        ("NetworkRuleConfig", "ingress"),
        ("NetworkRuleConfig", "portSelector", "ports"),
    }
)
_ARGUMENTS = "extraArgs"
_DELETE = "$patch"
Path = tuple[str, ...]


def apply_patch(documents: list[Any], patch: list[Any]) -> list[Any]:
    """Give the documents with every document of the patch merged into the one of the same kind and name.

    A document that is not there yet is added. `$patch: delete` removes a document, a field, or the entries of a
    list that have the value which stands beside it. A field or document that is not there needs no removing.

    Raises:
        ValueError: the patch does not fit; the message holds no value of it.
    """
    result = list(documents)
    for right in patch:
        if not isinstance(right, dict):
            raise ValueError(  # noqa: TRY004  # a value of the user, not a defect of the caller
                "must be a strategic merge patch: mappings, not a list of operations"
            )
        index = next((i for i, left in enumerate(result) if _identity(left) == _identity(right)), None)
        if index is None:
            result += [] if _deletes(right) else [_kept(right)]
        elif _deletes(right):
            del result[index]
        else:
            top = () if _identity(right) == _MAIN else (str(right["kind"]),)
            result[index] = _merge(result[index], right, top)
    return result


def _identity(document: Any) -> tuple[str, str, str]:
    kind = str(document.get("kind", ""))
    if not kind:
        return _MAIN
    return str(document.get("apiVersion", "")), kind, str(document.get("name", ""))


def _deletes(value: Any) -> bool:
    return isinstance(value, dict) and value.get(_DELETE) == "delete"


def _merge(left: Any, right: Any, path: Path) -> Any:
    if right is None:
        return left
    if left is None or path in _REPLACED or path[-2:-1] == (_ARGUMENTS,):
        return _kept(right)
    if isinstance(left, dict) and isinstance(right, dict):
        return _merge_mappings(left, right, path)
    if isinstance(left, list) and isinstance(right, list):
        return _merge_lists(left, right, path)
    if isinstance(left, dict | list) or isinstance(right, dict | list):
        raise ValueError(  # noqa: TRY004  # a value of the user, not a defect of the caller
            f"puts another type of value at {'.'.join(path)}"
        )
    return left if _is_zero(right) else right


def _merge_mappings(left: dict[str, Any], right: dict[str, Any], path: Path) -> dict[str, Any]:
    result = dict(left)
    for key, value in right.items():
        if _deletes(value):
            result.pop(key, None)
        else:
            result[key] = _merge(result.get(key), value, (*path, key))
    return result


def _merge_lists(left: list[Any], right: list[Any], path: Path) -> list[Any]:
    result = list(left)
    keys = _BY_KEY.get(path, ())
    for entry in right:
        if _deletes(entry):
            left_over = [old for old in result if not _selected(old, entry)]
            if len(left_over) == len(result):
                raise ValueError(f"deletes an entry of {'.'.join(path)} that is not there")
            result = left_over
            continue
        key = next((key for key in keys if isinstance(entry, dict) and entry.get(key)), None)
        same = (i for i, old in enumerate(result) if key and isinstance(old, dict) and old.get(key) == entry[key])
        index = next(same, None)
        if index is None:
            result.append(_kept(entry))
        else:
            result[index] = _merge(result[index], entry, path)
    return result


def _selected(entry: Any, selector: dict[str, Any]) -> bool:
    key = next((key for key in selector if key != _DELETE), "")
    return isinstance(entry, dict) and key in entry and str(entry[key]) == str(selector[key])


def _kept(value: Any) -> Any:
    """Give a value that is new, without what it deletes."""
    if isinstance(value, dict):
        return {key: _kept(entry) for key, entry in value.items() if not _deletes(entry)}
    return [_kept(entry) for entry in value if not _deletes(entry)] if isinstance(value, list) else value


def _is_zero(value: Any) -> bool:
    """Return whether Talos takes the value for "not said": empty text and the number 0, but never a boolean."""
    return value == "" or (isinstance(value, Spelling) and value.strip("+-0_") in ("", ".", "x", "o", "b"))
