"""Scripted turns instead of an engine: a JSONL file, one turn a line, the first that matches is played.

    {"match": "weather", "text": "<tool_call>...", "finish": "stop", "delay_ms": 20}
    {"match": "sunny", "role": "tool", "pieces": ["It is ", "sunny."]}
    {"match": null, "text": "Hello!"}

`match` is a regular expression searched in the last user message's text; null answers anything. With `"role": "tool"` it is
searched in the last message, and only when that is a tool's result: so a second turn can be scripted; such lines go first.
Exactly one of `text` (cut into small pieces here) and `pieces` (sent as they are). `finish` is `stop` (default) or `length`.
`delay_ms` passes before each piece. A piece counts as one token; prompt tokens are the prompt's words.

A line may also be a turn that the gateway recorded: its first choice answers conversations that end as the recorded one did.
"""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.chat.events import Piece, Usage
from gateway.chat.flow import Pulled, Reads
from gateway.chat.plan import Dialect, Plan
from gateway.errors import BackendRefused, SettingsError

from .base import EngineFacts

KEYS = ("match", "role", "text", "pieces", "finish", "delay_ms")
SMALL = re.compile(r"\s*\S{1,4}|\s+", re.DOTALL)
"""How a text is cut: like tokens, about four characters with the blanks before them."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One line of the file."""

    match: re.Pattern[str] | None
    role: str
    pieces: tuple[str, ...]
    finish: str
    delay: float
    """Seconds before each piece."""

    def answers(self, messages: Sequence[Mapping[str, Any]]) -> bool:
        """Whether this turn is meant for this conversation."""
        if self.role == "tool":
            asked = messages[-1] if messages and messages[-1].get("role") == "tool" else None
        else:
            asked = next((message for message in reversed(messages) if message.get("role") == "user"), None)
        if self.match is None:
            return self.role == "user" or asked is not None
        return asked is not None and self.match.search(text_of(asked)) is not None


class ReplayBackend:
    """Plays the turns of a file. SettingsError names the line that cannot be used."""

    name = "replay"
    takes_token_ids = False
    dialect: Dialect | None = None

    def __init__(self, path: Path) -> None:
        self._path = path
        self._turns = read_turns(path)

    @asynccontextmanager
    async def stream(self, plan: Plan) -> AsyncGenerator[Reads[list[Piece]]]:
        """Play the first turn that answers this conversation; see Backend."""
        turn = next((turn for turn in self._turns if turn.answers(plan.request.messages)), None)
        if turn is None:
            raise BackendRefused(
                f'No turn in {self._path.name} matches this conversation; add a last line with "match": null.',
                param="messages",
                status=400,
            )
        async with aclosing(_play(turn, plan)) as pieces:
            yield Pulled(pieces)

    async def facts(self) -> EngineFacts:
        """The file's name."""
        return EngineFacts("replay", self._path.stem)

    async def count_tokens(self, text: str) -> int:
        """The text's words."""
        return len(text.split())

    async def healthy(self) -> bool:
        """Always."""
        return True

    async def close(self) -> None:
        """Nothing to release."""


async def _play(turn: Turn, plan: Plan) -> AsyncGenerator[list[Piece]]:
    texts, finish, stop = _limited(turn, plan)
    choices = range(plan.sampling.n)
    for text in texts:
        await asyncio.sleep(turn.delay)
        yield [Piece(choice, text) for choice in choices]
    usage = Usage(len(plan.prompt.text.split()), len(texts) * plan.sampling.n)
    yield [*(Piece(choice, "", finish_reason=finish, stop=stop) for choice in choices), Piece(0, "", usage=usage)]


def _limited(turn: Turn, plan: Plan) -> tuple[Sequence[str], str, str | None]:
    """The turn's pieces as far as `stop` and `max_tokens` let it come, how it ends, and the stop text that ended it."""
    whole = "".join(turn.pieces)
    room, stop = min(((place, stop) for stop in plan.sampling.stop if (place := whole.find(stop)) >= 0), default=(-1, None))
    texts, finish = (turn.pieces, turn.finish) if stop is None else (_before(turn.pieces, room), "stop")
    limit = plan.sampling.max_tokens
    return (texts, finish, stop) if limit is None or len(texts) <= limit else (texts[:limit], "length", None)


def _before(pieces: Sequence[str], room: int) -> Sequence[str]:
    """The pieces as far as this many characters go."""
    kept: list[str] = []
    for piece in pieces:
        if room <= 0:
            break
        kept.append(piece[:room])
        room -= len(piece)
    return kept


def text_of(message: Mapping[str, Any]) -> str:
    """A message's text, be it a string or a list of parts."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list | tuple) else ()
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, Mapping))


def read_turns(path: Path) -> tuple[Turn, ...]:
    """All turns of a file; blank lines are skipped."""
    try:
        lines = path.read_text("utf-8").split("\n")
    except OSError as error:
        raise SettingsError(f"{path}: {error.strerror or error}; give the path of a JSONL file") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path}: not UTF-8 text; save it as UTF-8") from None
    turns = tuple(_turn(line, f"{path}:{number}") for number, line in enumerate(lines, 1) if line.strip())
    if not turns:
        raise SettingsError(f'{path}: no turns in it; add a line such as {{"match": null, "text": "Hello!"}}')
    return turns


def _turn(line: str, place: str) -> Turn:
    try:
        raw = json.loads(line)
    except ValueError as error:
        raise SettingsError(f"{place}: not JSON ({error}); each line is one JSON object") from None
    if not isinstance(raw, dict):
        raise SettingsError(f"{place}: a {type(raw).__name__} where a JSON object is expected")
    if "toolwire" in raw:
        return _recorded(raw, place)
    if unknown := [key for key in raw if key not in KEYS]:
        raise SettingsError(f"{place}: unknown key '{unknown[0]}'; known keys: {', '.join(KEYS)}")
    return Turn(
        match=_pattern(raw.get("match"), place),
        role=_one_of(raw, "role", ("user", "tool"), place),
        pieces=_texts(raw, place),
        finish=_one_of(raw, "finish", ("stop", "length"), place),
        delay=_delay(raw, place) / 1000,
    )


def _recorded(raw: Mapping[str, Any], place: str) -> Turn:
    """A turn of the gateway's own recordings. One whose messages are not there as they were answers anything."""
    try:
        pieces = [piece for piece in raw["pieces"] if piece[1] == 0]
        last = (raw["request"]["messages"] or [None])[-1]
        texts, endings = tuple(str(piece[2]) for piece in pieces), [piece[3] for piece in pieces if len(piece) > 3]
    except (KeyError, TypeError, IndexError):
        raise SettingsError(f"{place}: not a turn that was recorded by this version") from None
    told = last if isinstance(last, Mapping) and raw.get("redacted") != "masked" else None
    match = None if told is None else re.compile(rf"\A{re.escape(text_of(told))}\Z")
    role = "tool" if told is not None and told.get("role") == "tool" else "user"
    return Turn(match, role, texts, str(endings[-1]) if endings else "stop", 0.0)


def _pattern(match: Any, place: str) -> re.Pattern[str] | None:
    if match is None:
        return None
    if not isinstance(match, str):
        raise SettingsError(f"{place}: match must be a regular expression or null")
    try:
        return re.compile(match)
    except re.error as error:
        raise SettingsError(f"{place}: match is not a regular expression ({error}); escape special characters") from None


def _one_of(raw: Mapping[str, Any], key: str, known: Sequence[str], place: str) -> str:
    value = raw.get(key, known[0])
    if value not in known:
        raise SettingsError(f"{place}: {key} must be one of {', '.join(known)}, not {json.dumps(value)}")
    return str(value)


def _texts(raw: Mapping[str, Any], place: str) -> tuple[str, ...]:
    if ("text" in raw) == ("pieces" in raw):
        raise SettingsError(f"{place}: give exactly one of text and pieces")
    if "text" in raw:
        if not isinstance(raw["text"], str):
            raise SettingsError(f"{place}: text must be a string")
        return tuple(SMALL.findall(raw["text"]))
    pieces = raw["pieces"]
    if not isinstance(pieces, list) or not all(isinstance(piece, str) for piece in pieces):
        raise SettingsError(f"{place}: pieces must be a list of strings")
    return tuple(pieces)


def _delay(raw: Mapping[str, Any], place: str) -> float:
    delay = raw.get("delay_ms", 0)
    if isinstance(delay, bool) or not isinstance(delay, int | float) or not 0 <= delay <= 600_000:
        raise SettingsError(f"{place}: delay_ms must be a number of milliseconds from 0 to 600000")
    return float(delay)
