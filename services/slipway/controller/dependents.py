"""Which configs refer to a Secret or ConfigMap: those that wait for it are looked at when it changes."""

from collections.abc import Iterable

from slipway.controller.references import Place
from slipway.kubernetes_api.informer import Key


class Dependents:
    """The configs that refer to a Secret or ConfigMap of their namespace."""

    def __init__(self) -> None:
        """Know no config yet."""
        self._configs: dict[tuple[str, Place], set[Key]] = {}
        self._places: dict[Key, frozenset[Place]] = {}

    def update(self, config: Key, places: frozenset[Place]) -> None:
        """Remember what the spec of a config refers to."""
        self._discard(config, self._places.get(config, frozenset()) - places)
        for place in places:
            self._configs.setdefault((config[0], place), set()).add(config)
        self._places[config] = places

    def forget(self, config: Key) -> None:
        """Forget a config that is gone."""
        self._discard(config, self._places.pop(config, frozenset()))

    def on(self, namespace: str, place: Place) -> list[Key]:
        """Give the configs that refer to a place."""
        return list(self._configs.get((namespace, place), ()))

    def _discard(self, config: Key, places: Iterable[Place]) -> None:
        for place in places:
            self._configs.get((config[0], place), set()).discard(config)
