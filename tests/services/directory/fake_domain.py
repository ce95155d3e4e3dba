"""A domain in memory, as the real one is to a delegated account; test_real_domain.py shows the same of a real one."""

from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from slipway.directory.directory import Computer
from slipway.directory.failures import RequestFailed

ROOT = "DC=corp,DC=example,DC=com"
NODES = f"OU=Nodes,{ROOT}"
NOW = datetime(2030, 6, 1, tzinfo=UTC)


@dataclass
class FakeDomain:
    """Places, objects and passwords; the account's groups are what a test gives it."""

    groups: list[str] = field(default_factory=lambda: ["S-1-5-21-1-2-3-1103", "S-1-5-21-1-2-3-513"])
    protected: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=lambda: {ROOT, NODES, f"OU=Rack,{NODES}", f"CN=Computers,{ROOT}"})
    objects: dict[str, Computer] = field(default_factory=dict)
    passwords: dict[str, str] = field(default_factory=dict)
    with_children: set[str] = field(default_factory=set)

    @property
    def domain(self) -> str:
        return "corp.example.com"

    def own_groups(self) -> list[str]:
        return self.groups

    def protected_names(self) -> list[str]:
        return self.protected

    def is_root(self, place: str) -> bool:
        return place == ROOT

    def is_within(self, place: str, base: str) -> bool:
        known = self.places | {each.place for each in self.objects.values()}
        return {place, base} <= known and f",{place}".endswith(f",{base}")

    def computer(self, name: str) -> Computer | None:
        return next((each for each in self.objects.values() if each.name == name), None)

    def computers(self, base: str, prefix: str) -> list[Computer]:
        own = [each for each in self.objects.values() if each.description.startswith(prefix)]
        return [each for each in own if self.is_within(each.place, base)]

    def create(self, name: str, unit: str, description: str, password: str) -> None:
        self.put(name, unit, description)
        self.set_password(f"guid-of-{name}", password)

    def set_password(self, guid: str, password: str) -> None:
        self.passwords[guid] = password
        self.objects[guid] = replace(self.objects[guid], password_set=NOW)

    def delete(self, guid: str) -> None:
        if guid in self.with_children:
            raise RequestFailed("the domain controller answers notAllowedOnNonLeaf")
        del self.objects[guid]

    def put(
        self, name: str, unit: str, description: str, created: datetime = NOW, last_login: datetime | None = None
    ) -> Computer:
        """Make an object as another program would."""
        guid = f"guid-of-{name}"
        self.objects[guid] = Computer(name, guid, f"CN={name},{unit}", description, created, created, last_login)
        return self.objects[guid]
