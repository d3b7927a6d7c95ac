"""Ids of texts that were encoded before: a conversation comes again with every turn, a little longer.

Each API key has its own: how long an answer takes to begin must not tell one what others have sent.
"""

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence

from gateway.middleware.caller import caller

CHARACTERS = 4_000_000
"""How much text is remembered for one model."""


class Remembered:
    """Encodes texts through `encode`, each once as long as it is remembered."""

    def __init__(self, encode: Callable[[str], Sequence[int]]) -> None:
        self._encode = encode
        self._known: OrderedDict[tuple[str, str], array[int]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def __call__(self, text: str) -> Sequence[int]:
        asking = caller.get()
        key = ("" if asking is None else asking.key.hash, text)
        known = self._known.get(key)
        if known is not None:
            try:  # noqa: SIM105 - which takes longer than all else here
                self._known.move_to_end(key)
            except KeyError:
                pass  # forgotten just now, in another thread
            return known
        ids = array("I", self._encode(text))
        if len(text) <= CHARACTERS:
            self._keep(key, ids)
        return ids

    def _keep(self, key: tuple[str, str], ids: "array[int]") -> None:
        with self._lock:
            if key in self._known:
                return
            self._known[key] = ids
            self._characters += len(key[1])
            while self._characters > CHARACTERS:
                (_, oldest), _ = self._known.popitem(last=False)
                self._characters -= len(oldest)
