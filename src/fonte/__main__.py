"""``python -m fonte`` is ``fonte``."""

import sys

from fonte.cli import main

sys.exit(main())
