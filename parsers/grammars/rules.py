"""The rules of one EBNF grammar: equal ones are written once."""

from collections.abc import Callable, Hashable


class Rules:
    """Collects rules under short names of their own."""

    def __init__(self) -> None:
        self._bodies: dict[str, str] = {}
        self._names: dict[str, str] = {}
        self._once: dict[Hashable, str] = {}
        self._count = 0

    def once(self, key: Hashable, write: Callable[[], str]) -> str:
        """What is written for a key, which is written but the first time."""
        if key not in self._once:
            self._once[key] = write()
        return self._once[key]

    def named(self, hint: str, body: str) -> str:
        """The name of the rule with this body. What is but a name already needs no other."""
        if body in self._bodies:
            return body
        if body not in self._names:
            self._names[body] = self.reserved(hint)
            self.define(self._names[body], body)
        return self._names[body]

    def reserved(self, hint: str) -> str:
        """A new name, to be defined later: a rule may mean itself."""
        self._count += 1
        return f"{hint}{self._count}"

    def define(self, name: str, body: str) -> None:
        """Give a name its rule."""
        self._bodies[name] = f"{name} ::= {body}"

    def text(self, start: str) -> str:
        """The whole grammar."""
        return "\n".join((f"root ::= {start}", *self._bodies.values(), ""))
