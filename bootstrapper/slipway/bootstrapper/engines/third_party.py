"""Engines of other packages: what is wrong with one of them concerns it alone, and is reported as its own defect."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import TypeVar

import structlog

from slipway.bootstrapper.engines.declarations import broken_declarations, is_name
from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.result import EngineResult
from slipway.contract.control_characters import escape_controls
from slipway.contract.errors import SlipwayError, SpecInvalid, Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

T = TypeVar("T")
_log = structlog.get_logger("slipway.bootstrapper")

_SPEC, _INTENT = "spec.kubernetes.engine", "intent.kubernetes.engine"
"""The field of a machine by which it has its engine: as the spec has it, and as the bundle has it."""
_LONGEST = 200
"""Characters of a package's own words that are repeated."""


@dataclass(frozen=True, slots=True)
class UnusableEngine:
    """An engine of another package that cannot be had.

    Attributes:
        name: by which machines ask for it: that of its entry point.
        source: its package and entry point.
        cause: what is wrong with it.
    """

    name: str
    source: str
    cause: str

    @property
    def sentence(self) -> str:
        """What is wrong, and whose defect it is."""
        return f"a bootstrap engine cannot be used: {_defect(self.source, self.cause)}"

    def violation(self, path: str) -> Violation:
        """Return the violation of a field that asks for it."""
        return _violation(path, f"is a bootstrap engine that cannot be used: {_defect(self.source, self.cause)}")


class ThirdPartyEngine(Engine):
    """An engine of another package, with its declarations as they were when it was loaded.

    An exception that it should not raise is the refusal of the machine that asks for it, and is reported as its defect.
    """

    def __init__(self, engine: Engine, source: str) -> None:
        """Take over an engine whose declarations are sound."""
        self._engine, self._source = engine, source
        self.name, self.version = engine.name, engine.version
        self.oldest, self.newest = engine.oldest, engine.newest
        self.os_families, self.features = tuple(engine.os_families), tuple(engine.features)
        self.remedies, self.join_tokens = dict(engine.remedies), engine.join_tokens
        self.distributions, self.unserved = tuple(engine.distributions), dict(engine.unserved)
        self.plans_by_class, self.own_minor_only = engine.plans_by_class, engine.own_minor_only

    def secrets(self, kubernetes: kubernetespb.Kubernetes) -> Sequence[secretpb.SecretDeclaration]:
        """Declare those of the engine.

        Raises:
            SpecInvalid: it failed.
        """
        return self._ask(_SPEC, lambda: tuple(self._engine.secrets(kubernetes)))

    def program_version(self, options: specpb.EngineOptions) -> str:
        """Give that of the engine.

        Raises:
            SpecInvalid: it failed.
        """
        return self._ask(_SPEC, lambda: self._engine.program_version(options))

    def build_plan(self, bundle: bundlepb.BootstrapBundle, served: provisionerpb.FormatInfo) -> EngineResult:
        """Give the plan of the engine.

        Raises:
            SlipwayError: what the engine raises on purpose; SpecInvalid where it failed.
        """
        result = self._ask(_INTENT, lambda: self._engine.build_plan(bundle, served))
        if not isinstance(result, EngineResult):
            raise self._failed(_INTENT, f"it gave {type(result).__name__} in place of an EngineResult")
        return result

    def _ask(self, path: str, call: Callable[[], T]) -> T:
        try:
            return call()
        except SlipwayError:
            raise
        except Exception as error:  # code of others may raise anything
            raise self._failed(path, f"it failed with {_exception(error)}") from error

    def _failed(self, path: str, cause: str) -> SpecInvalid:
        problem = f"is a bootstrap engine that failed: {_defect(self._source, cause)}"
        return SpecInvalid("the bootstrap engine of the machine failed", violations=[_violation(path, problem)])


def log_unusable(engines: Iterable[UnusableEngine]) -> None:
    """Log each engine that cannot be used, for the operator of a server: it runs without them."""
    for engine in engines:
        _log.warning("bootstrap engine not usable", engine=engine.name, source=engine.source, cause=engine.cause)


def load_engines(
    entries: Iterable[EntryPoint], reserved: Collection[str]
) -> tuple[Sequence[Engine], Sequence[UnusableEngine]]:
    """Load the engines of other packages, in the order of their names; `reserved` are names of ours.

    Returns:
        Those that can be used, and the others. Nothing is raised: what does not use an engine never has to do with it.
    """
    ordered = sorted(entries, key=lambda entry: (entry.name, entry.value))
    counts = Counter(entry.name for entry in ordered)
    engines: list[Engine] = []
    unusable: list[UnusableEngine] = []
    for entry in ordered:
        source = _source(entry)
        if entry.name in reserved:
            cause = f"its name {entry.name} is that of an engine which comes with Slipway, which is used in its place"
        elif counts[entry.name] > 1:
            others = [_source(other) for other in ordered if other.name == entry.name and other is not entry]
            cause = f"another engine has the same name: {', '.join(others)}"
        else:
            loaded = _load(entry, source)
            if isinstance(loaded, Engine):
                engines.append(loaded)
                continue
            cause = loaded
        unusable.append(UnusableEngine(entry.name, source, cause))
    return engines, unusable


def _load(entry: EntryPoint, source: str) -> Engine | str:
    """Give the engine of an entry point, or why it cannot be used."""
    if not is_name(entry.name):
        return "the name of its entry point is not a DNS label: lower-case letters, digits and dashes, at most 63"
    try:
        loaded = entry.load()
        if not (isinstance(loaded, type) and issubclass(loaded, Engine)):
            return "its entry point does not name a class that is an Engine"
        engine = loaded()
        causes = list(_causes(engine, entry))
        return "; ".join(causes) if causes else ThirdPartyEngine(engine, source)
    except (Exception, SystemExit) as error:  # noqa: BLE001  # code of others may raise anything
        return f"it cannot be loaded: {_exception(error)}"


def _causes(engine: Engine, entry: EntryPoint) -> Iterator[str]:
    causes = list(broken_declarations(engine))
    yield from causes
    if not causes and engine.name != entry.name:
        yield f"its name is {engine.name}, and its entry point's is another one: give both the same"


def _source(entry: EntryPoint) -> str:
    package = f"package {entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"
    return _words(f"{package}, entry point {entry.name} = {entry.value}")


def _exception(error: BaseException) -> str:
    """Name an exception and where it was raised. Only an import's own words are repeated, which name modules."""
    trace, place = error.__traceback__, ""
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if not file.startswith("<frozen "):
            place = f" at {file.rpartition('/')[2]}:{trace.tb_lineno}"
        trace = trace.tb_next
    text = f": {_words(str(error))}" if isinstance(error, ImportError | AttributeError | TypeError) else ""
    return f"{type(error).__name__}{place}{text}"


def _words(text: str) -> str:
    return escape_controls(text).replace("\n", " ")[:_LONGEST]


def _defect(source: str, cause: str) -> str:
    return f"{source}: {cause}. This is a defect of that package, not of Slipway"


def _violation(path: str, problem: str) -> Violation:
    return Violation(path, problem, remedy="choose another engine, or have the maintainers of that package repair it")
