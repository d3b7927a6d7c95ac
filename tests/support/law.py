"""How long the laws of parsers are tried.

LAW_EXAMPLES=2000 looks longer and at other texts than the everyday run, which is always the same.
"""

import os

from hypothesis import HealthCheck, settings

EXAMPLES = int(os.environ.get("LAW_EXAMPLES", "0"))
LAW = settings(
    max_examples=EXAMPLES or 25,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
