"""Prompts that make the copycat model say a given text, found through the gateway's public interface alone.

The model repeats what stands DISTANCE tokens before the place it writes at. A conversation whose last user message is
`0 + text + STOP_MARK + filler` makes it say `text` when the filler is as long as is missing to that distance. How many tokens the
template writes after the user's message is found out by having the model say where in a row of counters it starts to read; how
long the text is, by the usage the gateway reports.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from openai import OpenAI

DISTANCE = 1024
STOP_MARK = "◆"
# A digit is a token of its own for this tokenizer: nothing that follows can melt into it.
START = "0"
FILLER = " a"
# Each digit is one token, and so is the letter before it.
COUNTER = "x{:04d}"
COUNTER_TOKENS = 5
COUNTERS = 320

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stage:
    """One model of the gateway and the tools of a conversation, with what is known of how its template frames a message."""

    client: OpenAI
    model: str
    tools: Sequence[dict[str, Any]] = ()

    def ask(self, messages: Sequence[Message], limit: int) -> tuple[str, int]:
        """What the model says in at most `limit` tokens as plain text, and the length of the prompt."""
        options: dict[str, Any] = {"tools": list(self.tools)} if self.tools else {}
        answer = self.client.chat.completions.create(
            model=self.model, messages=list(messages), max_completion_tokens=limit, temperature=0, **options
        )
        assert answer.usage is not None
        return answer.choices[0].message.content or "", answer.usage.prompt_tokens

    def length(self, messages: Sequence[Message]) -> int:
        """Tokens of the prompt of this conversation."""
        return self.ask(messages, 1)[1]

    def tail(self) -> int:
        """Tokens that the template writes after the last user message."""
        counters = "".join(COUNTER.format(number) for number in range(COUNTERS))
        said, _ = self.ask([user(counters)], 2 * COUNTER_TOKENS)
        found = re.search(r"^(\d*)x(\d{4})", said)
        assert found, f"{self.model} did not say counters but {said!r}"
        first = int(found[2]) * COUNTER_TOKENS - len(found[1])
        return DISTANCE - (COUNTERS * COUNTER_TOKENS - first)

    def lines(self, text: str) -> list[Message]:
        """The conversation after which the model says `text`."""
        spoken = text + STOP_MARK
        empty, full = self.length([user(START)]), self.length([user(START + spoken)])
        missing = DISTANCE - self.tail() - (full - empty)
        assert missing >= 0, f"the text has {full - empty} tokens, more than the model can look back"
        return [user(START + spoken + FILLER * missing)]

    def again(self, history: Sequence[Message], earlier: int) -> list[Message]:
        """The conversation after which the model repeats the assistant's turn `history[earlier]`, markers and all."""
        before = self.length(history[:earlier])
        missing = DISTANCE - (self.length([*history, user(START)]) - before)
        assert missing >= 0, "the history is longer than the model can look back"
        return [*history, user(START + FILLER * missing)]


def user(text: str) -> Message:
    return {"role": "user", "content": text}
