"""What several models are made of alike, made once: entries that name one tokenizer, or one template, share it."""

import threading
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar
from weakref import WeakValueDictionary

Value = TypeVar("Value")


class Shared(Generic[Value]):
    """Values by what they are made of. Each is made once, and let go of when nobody uses it any more."""

    def __init__(self) -> None:
        self._values: WeakValueDictionary[Hashable, Value] = WeakValueDictionary()
        self._making = threading.Lock()

    def of(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value for this key. Who comes while it is made waits for it, and gets the same."""
        with self._making:
            value = self._values.get(key)
            if value is None:
                value = self._values[key] = make()
            return value
