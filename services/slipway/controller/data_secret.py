"""The data Secret: what Cluster API's bootstrap contract asks of it, and what the controller remembers in it.

Status is never restored when a cluster moves to another management cluster, Secrets are. So everything that a status
says of a finished render stands in annotations of the Secret, and the status can be made again from them.
"""

import base64
from dataclasses import dataclass
from typing import Self

from slipway.controller.cluster_object import CLUSTER_LABEL
from slipway.controller.facts import Facts
from slipway.kubernetes_api.resources import Json
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

TYPE = "cluster.x-k8s.io/secret"
LIMIT_BYTES = 1024 * 1024
_YES = "true"
_PREFIX = "bootstrap.slipway.dev/"
PAYLOAD = f"{_PREFIX}payload"
"""Annotation with the address of the payload. The address alone opens nothing: the gateway asks for the ticket."""

NODE_SEEN = f"{_PREFIX}node-seen"
"""Annotation with the time at which the controller first saw the machine's node, while there is a payload."""

CONFIG_UID = f"{_PREFIX}config-uid"
"""Annotation with the uid that the config had when its Secret was made. A config that moves to another management
cluster, or is restored, gets another one; what its machine has was made of the first."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a data Secret says of the render that it holds.

    Attributes:
        generation: generation of the config.
        rotation: how often the token of a pool was rotated.
        role: role of the machine.
        provisioner: name of who rendered, with `version` and `format`.
        bundle_id: id of the bundle.
        size: bytes of the user data.
        token: the machine joins by a token that is to be kept alive.
        engine: what the machine is bootstrapped by: the engine that made its plan, or what its format has in itself;
            "" where it is not known.
        no_room: the machine was to get addresses to report to, and its user data had no room for them.
        payload: where the machine fetches its user data, as long as they are kept there; "" for inline ones.
        config_uid: uid that the config had at the render, of which token and ticket are made; "" in Secrets that were
            made before there was such an annotation.
    """

    generation: int
    rotation: int
    role: str
    provisioner: str
    version: str
    format: str
    bundle_id: str
    size: int
    token: bool
    engine: str
    no_room: bool = False
    payload: str = ""
    config_uid: str = ""

    @classmethod
    def of_answer(  # noqa: PLR0913  # keyword-only facts of a render
        cls, answer: bootstrappb.GetUserDataResponse, *, generation: int, rotation: int, role: str, token: bool,
        engine: str, no_room: bool, payload: str = "", config_uid: str = "",
    ) -> Self:  # fmt: skip
        """Describe a render."""
        return cls(
            generation=generation,
            rotation=rotation,
            role=role,
            provisioner=answer.provisioner.name,
            version=answer.provisioner.version,
            format=answer.format,
            bundle_id=answer.bundle_id,
            size=len(answer.user_data),
            token=token,
            engine=engine,
            no_room=no_room,
            payload=payload,
            config_uid=config_uid,
        )

    @classmethod
    def of_secret(cls, secret: Json) -> Self | None:
        """Read it from the annotations of a Secret; None when the Secret has none of ours."""
        annotations = secret["metadata"].get("annotations") or {}
        own = {key.removeprefix(_PREFIX): value for key, value in annotations.items() if key.startswith(_PREFIX)}
        try:
            return cls(
                generation=int(own["generation"]),
                rotation=int(own["token-rotation"]),
                role=own["role"],
                provisioner=own["provisioner"],
                version=own["provisioner-version"],
                format=own["format"],
                bundle_id=own["bundle-id"],
                size=int(own["user-data-bytes"]),
                token=own["token"] == _YES,
                engine=own.get("engine", ""),
                no_room=own.get("no-room-for-address") == _YES,
                payload=own.get("payload", ""),
                config_uid=own.get("config-uid", ""),
            )
        except (KeyError, ValueError):
            return None

    def is_of_another(self, config_uid: str) -> bool:
        """Whether the config had another uid when its Secret was made."""
        return self.config_uid not in {"", config_uid}

    def annotations(self) -> dict[str, str]:
        """Give the annotations that say it."""
        return {
            f"{_PREFIX}generation": str(self.generation),
            f"{_PREFIX}token-rotation": str(self.rotation),
            f"{_PREFIX}role": self.role,
            f"{_PREFIX}provisioner": self.provisioner,
            f"{_PREFIX}provisioner-version": self.version,
            f"{_PREFIX}format": self.format,
            f"{_PREFIX}bundle-id": self.bundle_id,
            f"{_PREFIX}user-data-bytes": str(self.size),
            f"{_PREFIX}token": _YES if self.token else "false",
            f"{_PREFIX}engine": self.engine,
            **({f"{_PREFIX}no-room-for-address": _YES} if self.no_room else {}),
            **({PAYLOAD: self.payload} if self.payload else {}),
            **({CONFIG_UID: self.config_uid} if self.config_uid else {}),
        }


def secret_object(facts: Facts, *, cluster: str, data: bytes, secret_format: str, record: Record) -> Json:
    """Give the data Secret of a config."""
    values = {"value": base64.b64encode(data).decode()}
    if secret_format:
        values["format"] = base64.b64encode(secret_format.encode()).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "type": TYPE,
        "metadata": {
            "name": facts.name,
            "namespace": facts.namespace,
            "labels": {CLUSTER_LABEL: cluster},
            "annotations": record.annotations(),
            "ownerReferences": [controller_reference(facts)],
        },
        "data": values,
    }


def controller_reference(facts: Facts) -> Json:
    """Give the reference by which a config controls its data Secret."""
    return {
        "apiVersion": facts.resource.api_version,
        "kind": facts.resource.kind,
        "name": facts.name,
        "uid": facts.uid,
        "controller": True,
    }


def preconditions(secret: Json | None) -> dict[str, str]:
    """Give the metadata by which a write counts only if the object was not changed, or replaced, since it was read."""
    if secret is None:
        raise AssertionError("decided before")
    return {key: str(secret["metadata"][key]) for key in ("uid", "resourceVersion")}


def controller_of(secret: Json) -> Json | None:
    """Give the controller of an object, or None."""
    references = secret["metadata"].get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def decoded_value(secret: Json, key: str) -> bytes:
    """Give a value of a Secret, b"" where it has none of that key."""
    return base64.b64decode((secret.get("data") or {}).get(key) or "")
