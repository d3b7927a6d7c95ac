"""Ids of texts that were encoded before: a conversation comes again with every turn, a little longer."""

import threading
from array import array
from collections import OrderedDict
from collections.abc import Callable, Sequence

CHARACTERS = 4_000_000
"""How much text is remembered for one model."""


class Remembered:
    """Encodes texts through `encode`, each once as long as it is remembered."""

    def __init__(self, encode: Callable[[str], Sequence[int]]) -> None:
        self._encode = encode
        self._known: OrderedDict[str, array[int]] = OrderedDict()
        self._characters = 0
        self._lock = threading.Lock()

    def __call__(self, text: str) -> Sequence[int]:
        known = self._known.get(text)
        if known is not None:
            try:  # noqa: SIM105 - which takes longer than all else here
                self._known.move_to_end(text)
            except KeyError:
                pass  # forgotten just now, in another thread
            return known
        ids = array("I", self._encode(text))
        if len(text) <= CHARACTERS:
            self._keep(text, ids)
        return ids

    def _keep(self, text: str, ids: "array[int]") -> None:
        with self._lock:
            if text in self._known:
                return
            self._known[text] = ids
            self._characters += len(text)
            while self._characters > CHARACTERS:
                oldest, _ = self._known.popitem(last=False)
                self._characters -= len(oldest)
