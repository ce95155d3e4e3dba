"""Field paths as errors name them: whether one leads to something in a request."""

import re

from google.protobuf.message import Message

from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_PART = re.compile(r"([a-z][a-z0-9_]*)(?:\[([0-9]+)\])?")


def names_item(request: provisionerpb.RenderRequest, path: str) -> bool:
    """Whether a path, from the bundle or from the request, leads to something, and not to a list of items."""
    return _leads(request.bundle, path) or _leads(request, path)


def names_field(message: Message, path: str) -> bool:
    """Whether a path is one of fields that a message has, set or not; what it counts must be there."""
    name, _, rest = path.partition(".")
    found = _PART.fullmatch(name)
    field = message.DESCRIPTOR.fields_by_name.get(found[1]) if found else None
    if field is None or found is None:
        return False
    value = getattr(message, field.name)
    if found[2] is not None:
        if not field.is_repeated or int(found[2]) >= len(value):
            return False
        value = value[int(found[2])]
    return not rest or (isinstance(value, Message) and names_field(value, rest))


def _leads(message: Message, path: str) -> bool:
    here: object = message
    for part in path.split("."):
        found = _PART.fullmatch(part)
        if found is None or not isinstance(here, Message):
            return False
        name, index = found.groups()
        field = here.DESCRIPTOR.fields_by_name.get(name)
        if field is None or (index is not None and not field.is_repeated):
            return False
        value = getattr(here, name)
        # A list of words belongs to its item; one of items does not.
        if index is None and field.is_repeated and field.message_type is not None:
            return False
        if index is None:
            here = value
        elif int(index) < len(value):
            here = value[int(index)]
        else:
            return False
    return True
