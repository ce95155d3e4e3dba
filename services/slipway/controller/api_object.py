"""What the controller reads alike of all objects of a Kubernetes API."""

from dataclasses import dataclass

from slipway.kubernetes_api.resources import Json


@dataclass(frozen=True, slots=True)
class ApiObject:
    """An object of a namespace, as the API gives it."""

    tree: Json

    @property
    def name(self) -> str:
        """Its name."""
        return str(self.tree["metadata"]["name"])

    @property
    def uid(self) -> str:
        """Its uid."""
        return str(self.tree["metadata"]["uid"])

    @property
    def namespace(self) -> str:
        """Its namespace."""
        return str(self.tree["metadata"]["namespace"])

    @property
    def deleting(self) -> bool:
        """Whether it is about to go."""
        return bool(self.tree["metadata"].get("deletionTimestamp"))
