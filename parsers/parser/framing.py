"""Text that is framing as far as one can tell; what turns out to be none is given back."""


class Framing:
    """Holds what is skipped from the first marker of a call until the call is certain."""

    __slots__ = ("behind_muted", "held", "returned", "seen")

    def __init__(self) -> None:
        self.held: list[str] | None = None
        """None: what is skipped is framing for certain."""
        self.behind_muted = False
        """A call that is text has just ended: a closer that follows is text as well."""
        self.returned = False
        """What seemed to be a call of this turn was text: so are the closers that belong to it."""
        self.seen = False
        """Some framing has been read in this turn."""

    def hold(self, space: list[str] | None = None) -> None:
        """Keep what is skipped from here on, and the `space` before it."""
        if self.held is None:
            self.held = space or []

    def hold_behind_muted(self) -> None:
        """Keep what is skipped behind a call that is text."""
        self.behind_muted = True
        self.held = []

    def settle(self) -> None:
        """It was framing, and needs to be kept no longer."""
        self.held = None

    def take(self) -> str:
        """It was none: the text that was held."""
        held, self.held = "".join(self.held or ()), None
        self.returned = True
        return held

    def holds_marker(self) -> bool:
        """Whether more than a lone bracket is held."""
        return len("".join(self.held or ()).strip()) > 1
