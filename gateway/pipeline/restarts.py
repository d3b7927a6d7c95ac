"""How often an answer is taken again of which nothing has left, because its engine broke off."""

import logging

from gateway.backends.base import broke_off
from gateway.errors import BackendError
from gateway.telemetry.record import Record

from .instead import elsewhere

MOST_RESTARTS = 2
log = logging.getLogger(__name__)


class Restarts:
    """Those of one answer, which is asked for in the task that makes this. Engines that broke off come last."""

    def __init__(self, record: Record) -> None:
        broke_off.set(set())
        self._record = record
        self._left = MOST_RESTARTS

    def after(self, error: BackendError) -> bool:
        """Whether it is to be taken again; then it is noted that it was."""
        if not self._left or not elsewhere(error):
            return False
        self._left -= 1
        self._record.restarts += 1
        log.warning("an answer of %s is taken again: %s", self._record.model, error)
        return True
