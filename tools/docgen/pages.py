"""Which reference pages there are, and whether they are what their sources say now."""

from collections.abc import Callable, Mapping
from pathlib import Path

from tools import errorgen
from tools.docgen import architecture_tables, generated_files
from tools.docgen.command_pages import cli_page, settings_page
from tools.docgen.compliance_page import compliance_page
from tools.docgen.condition_page import condition_page
from tools.docgen.contract_page import contract_page
from tools.docgen.engine_page import engine_page
from tools.docgen.event_page import event_page
from tools.docgen.fact_pages import fact_page, grammar_page, infrastructure_page
from tools.docgen.feature_page import feature_page
from tools.docgen.profile_page import profile_page
from tools.docgen.reason_page import reason_page
from tools.docgen.spec_page import spec_page
from tools.docgen.summary_table import filled

REFERENCE = Path("docs/reference")
README = Path("README.md")
PAGES: Mapping[str, Callable[[], str]] = {
    "bootstrap-engines.md": engine_page,
    "cli.md": cli_page,
    "compliance.md": compliance_page,
    "conditions.md": condition_page,
    "contract.md": contract_page,
    "events.md": event_page,
    "features.md": feature_page,
    "grammars.md": grammar_page,
    "infrastructures.md": infrastructure_page,
    "machine-facts.md": fact_page,
    "os-profiles.md": profile_page,
    "reasons.md": reason_page,
    "settings.md": settings_page,
    "spec.md": spec_page,
}


def texts(root: Path) -> dict[Path, str]:
    """Give every generated page, by its path below `root`."""
    made = {REFERENCE / name: page() for name, page in PAGES.items()}
    made[errorgen.PAGE] = errorgen.page(errorgen.load(root))
    made[README] = filled((root / README).read_text(encoding="utf-8"))
    made[architecture_tables.PAGE] = architecture_tables.filled(
        (root / architecture_tables.PAGE).read_text(encoding="utf-8")
    )
    return made


def write(root: Path) -> list[Path]:
    """Write the pages that are stale; give their paths."""
    return generated_files.write(root, texts(root))


def stale(root: Path) -> list[Path]:
    """Give the pages that are missing, or differ from what their sources say now."""
    return generated_files.stale(root, texts(root))
