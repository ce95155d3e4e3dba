"""Write deploy/kubernetes/crd, or name with --check the files that are stale."""

import sys

from tools.crdgen.definitions import texts
from tools.docgen.generated_files import main
from tools.repository import ROOT

if __name__ == "__main__":
    sys.exit(main(ROOT, lambda _: texts()))
