"""`python -m gateway` is the command `toolwire`."""

import sys

from gateway.cli import main

sys.exit(main())
