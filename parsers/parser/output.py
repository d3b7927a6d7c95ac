"""What a turn has given so far: its events in their order, and its content."""

from ..events import ContentDelta, Event, Notice, NoticeKind, ReasoningDelta
from ..readers.strays import Channel


class Output:
    """Collects events: ready to be given out, or, while they are a draft's, waiting for what becomes of it."""

    __slots__ = ("_ready", "behind_call", "between", "content", "events", "lead", "wrote_content")

    def __init__(self) -> None:
        self._ready: list[Event] = []
        self.events = self._ready
        """Where events go now."""
        self.content: list[str] = []
        self.wrote_content = False
        self.behind_call = False
        """A call was the latest thing; no content stands behind it."""
        self.between: list[str] = []
        """White space behind content; it is content too once more follows."""
        self.lead = ""
        """White space before the call that is being read; it joins what is `between` when the call opens."""

    def text(self, channel: Channel, text: str) -> None:
        """Text of a channel, already consumed."""
        if not text:
            return
        if channel == "content":
            if self.between:
                text = "".join(self.between) + text
                self.between.clear()
            self.wrote_content = True
            self.behind_call = False
            self.content.append(text)
            self.events.append(ContentDelta(text))
        else:
            self.events.append(ReasoningDelta(text))

    @property
    def in_content(self) -> bool:
        """Whether more content follows at once on what there is."""
        return self.wrote_content and not self.between and not self.behind_call

    def notice(self, kind: NoticeKind, detail: str) -> None:
        """Something the operator should know."""
        self.events.append(Notice(kind, detail))

    def keep_lead(self) -> None:
        """The call behind the white space opens."""
        if self.lead:
            self.between.append(self.lead)
            self.lead = ""

    def take(self) -> list[Event]:
        """The events that are ready, once."""
        taken = self._ready
        self._ready = []
        if self.events is taken:
            self.events = self._ready
        return taken

    # ---- drafts
    def divert(self) -> None:
        """Events wait from here on."""
        self.events = []

    def discard(self) -> None:
        """The events that waited never were."""
        self.events = self._ready

    def release(self) -> None:
        """The events that waited are ready."""
        if self.events is not self._ready:
            self._ready += self.events
            self.events = self._ready
