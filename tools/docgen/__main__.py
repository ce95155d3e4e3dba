"""Write docs/reference, or name with --check the pages that are stale."""

import sys

from tools.docgen.generated_files import main
from tools.docgen.pages import texts
from tools.repository import ROOT

if __name__ == "__main__":
    sys.exit(main(ROOT, texts))
