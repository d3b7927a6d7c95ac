"""The few points at which clients want opposite things, and the two sets of answers to them.

`openai` does what OpenAI does, which the official clients and frameworks expect. `legacy-ui` suits chat interfaces that were
written for servers of their time: they run tools only on `tool_calls`, show what stands in the content, join whatever content is
sent, and look at the first choice of every chunk.
"""

from dataclasses import dataclass
from typing import Literal

from gateway.middleware.caller import caller
from gateway.settings import Wire


@dataclass(frozen=True, slots=True)
class Profile:
    """How an answer on Chat Completions is written."""

    forced_finish: Literal["stop", "tool_calls"]
    """`finish_reason` of an answer whose one call the client demanded by name."""
    thinking: Literal["fields", "content"]
    """Thinking in fields of its own (`reasoning`, `reasoning_content`), or between <think> tags in the content."""
    no_content: Literal["null", '""']
    """What `content` is where there is none."""
    usage: Literal["own chunk", "last chunk"]
    """The tokens of a stream: where that is asked for, in a chunk without choices; or always, on the last chunk that has one."""


PROFILES: dict[Wire, Profile] = {
    "openai": Profile(forced_finish="stop", thinking="fields", no_content="null", usage="own chunk"),
    "legacy-ui": Profile(forced_finish="tool_calls", thinking="content", no_content='""', usage="last chunk"),
}
OPENAI = PROFILES["openai"]


def profile_of(wire: Wire) -> Profile:
    """The profile of the caller's key, or of the model (`wire`) where the key says nothing."""
    asking = caller.get()
    return PROFILES[(asking.key.wire if asking is not None else None) or wire]
