"""Entry point of ``python -m fork``; see :mod:`fork.cli`."""

import sys

from fork.cli import main

sys.exit(main())
