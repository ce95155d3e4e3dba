"""The schema of a SlipwayConfig's status: what Cluster API's contract v1beta2 reads, and what people ask for.

It is no message of the contract between services: only the controller writes it, and nothing reads it back that could
not be made again from the Secret.
"""

from tools.crdgen.schema import Schema

_CONDITION: Schema = {
    "type": "object",
    "properties": {
        "type": {"description": "Type of the condition.", "type": "string", "maxLength": 316, "minLength": 1},
        "status": {"description": "Whether it holds.", "type": "string", "enum": ["True", "False", "Unknown"]},
        "observedGeneration": {
            "description": "The generation of the config that it is about.",
            "type": "integer",
            "format": "int64",
            "minimum": 0,
        },
        "lastTransitionTime": {"description": "When it changed.", "type": "string", "format": "date-time"},
        "reason": {
            "description": "Why, as one word; docs/reference/conditions.md explains them.",
            "type": "string",
            "maxLength": 1024,
            "minLength": 1,
            "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        },
        "message": {"description": "Why, as a sentence.", "type": "string", "maxLength": 32768},
    },
    "required": ["type", "status", "lastTransitionTime", "reason", "message"],
}

_PROVISIONER: Schema = {
    "description": "Who made the user data.",
    "type": "object",
    "properties": {
        "name": {"description": "Its name.", "type": "string", "maxLength": 63},
        "version": {"description": "Its version.", "type": "string", "maxLength": 63},
        "format": {"description": "The format.", "type": "string", "maxLength": 63},
    },
}

STATUS: Schema = {
    "description": "Its result.",
    "type": "object",
    "properties": {
        "initialization": {
            "description": "What Cluster API waits for.",
            "type": "object",
            "properties": {
                "dataSecretCreated": {"description": "The data Secret is there, complete.", "type": "boolean"}
            },
        },
        "dataSecretName": {
            "description": "Name of the Secret that holds the user data.",
            "type": "string",
            "maxLength": 253,
            "minLength": 1,
        },
        "ready": {
            "description": "The same as initialization.dataSecretCreated, for the contract v1beta1.",
            "type": "boolean",
        },
        "provisioner": _PROVISIONER,
        "userDataBytes": {
            "description": "Bytes of the user data.",
            "type": "integer",
            "format": "int64",
            "minimum": 0,
        },
        "bundleId": {
            "description": "Id of the bundle; the machine keeps its state under it.",
            "type": "string",
            "maxLength": 128,
        },
        "observedGeneration": {
            "description": "The generation of the config that the status is about.",
            "type": "integer",
            "format": "int64",
            "minimum": 0,
        },
        "conditions": {
            "description": "What holds and what does not.",
            "type": "array",
            "maxItems": 32,
            "items": _CONDITION,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["type"],
        },
    },
}
