"""Which format a template speaks: the one whose parser reads back what the template writes for a known call.

Names and globs tell nothing about a renamed fine-tune; its own template does.
"""

import json
import re
from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import parsers
from parsers import Format, Message, UnwritableError

from .renderer import Renderer
from .samples import TOOL, Sample, ending_of, samples_of

_QUOTES = re.compile(r"[\s\"']")


def pick_format(renderer: Renderer) -> str | None:
    """The name of the format that fits best, or None."""
    found = [sample for sample in samples_of(renderer) if isinstance(sample, Sample)]
    return next(iter(fitting(found, ending_of(renderer))), None)


def fitting(samples: Sequence[Sample], ending: str) -> list[str]:
    """The formats that read the plain call back, best first.

    Best is the one that reads most of the other samples too; among equals the one that would write them as the template does,
    then the one whose own text agrees with the template's for longest, then the one whose turns end as the template's do, then
    the one that had least to say about them, then one of the widespread formats, for which there is a template of ours.
    """
    if not samples or not samples[0].message.tool_calls:
        return []
    ranks = {}
    for name in parsers.names():
        fmt = parsers.get(name)
        if reads(fmt, samples[0]):
            ranks[name] = (*_score(fmt, samples, ending), fmt.template is not None)
    return sorted(sorted(ranks), key=lambda name: ranks[name], reverse=True)


def reads(fmt: Format, sample: Sample) -> bool:
    """Whether the sample comes back: its calls, its text and its reasoning."""
    return _same(read(fmt, turn_of(fmt, sample)), sample.message)


def turn_of(fmt: Format, sample: Sample) -> str:
    """The sample's turn; up to the first text that ends one, unless the whole of it reads back."""
    ends = [place for place in map(sample.turn.find, fmt.stop) if place >= 0]
    if not ends or _same(read(fmt, sample.turn), sample.message):
        return sample.turn
    return sample.turn[: min(ends)]


def read(fmt: Format, turn: str) -> Message:
    """What the format's parser makes of a turn."""
    parser = parsers.Parser(fmt, tools=[TOOL])
    return parsers.fold([*parser.feed(turn), *parser.finish("stop")])


def _same(one: Message, other: Message) -> bool:
    return calls_of(one) == calls_of(other) and texts_of(one) == texts_of(other)


def calls_of(message: Message) -> list[tuple[str, Any]]:
    """Calls by name and by the value of their arguments."""
    return [(call.name, _value(call.arguments)) for call in message.tool_calls]


def texts_of(message: Message) -> tuple[str, str]:
    """Content and reasoning, without the white space around them."""
    return (message.content or "").strip(), (message.reasoning or "").strip()


def nearest(sample: Sample) -> tuple[str, str] | None:
    """A format whose own text for the sample the template's is but for white space and quotes, and that text."""
    for name in sorted(parsers.names(), key=lambda name: parsers.get(name).template is None):
        own = own_text(parsers.get(name), sample)
        if own and _QUOTES.sub("", own) == _QUOTES.sub("", sample.turn):
            return name, own
    return None


def writes(fmt: Format, sample: Sample) -> bool:
    """Whether the template's text is the format's own; what a template puts before it, an empty thought say, is allowed."""
    own = own_text(fmt, sample)
    return own is not None and turn_of(fmt, sample).strip().endswith(own)


def own_text(fmt: Format, sample: Sample) -> str | None:
    """What the format itself writes for the sample's message; None where it cannot."""
    try:
        return parsers.write(fmt, sample.message).strip()
    except UnwritableError:
        return None


def _agreement(fmt: Format, sample: Sample) -> int:
    """How many characters the format's own text and the template's have in common at their beginning, white space aside."""
    own, turn = ("".join(text.split()) for text in (own_text(fmt, sample) or "", turn_of(fmt, sample)))
    pairs = zip(own, turn, strict=False)
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], pairs))


def _score(fmt: Format, samples: Sequence[Sample], ending: str) -> tuple[int, int, int, bool, int]:
    """How many samples came back; how many it writes alike, for how long; whether its turns end so; fewer notices are better."""
    pairs = [(sample.message, read(fmt, turn_of(fmt, sample))) for sample in samples]
    calls = sum(calls_of(written) == calls_of(back) for written, back in pairs)
    texts = sum(texts_of(written) == texts_of(back) for written, back in pairs)
    ends = any(stop in ending for stop in fmt.stop)
    notices = sum(len(back.notices) for _, back in pairs)
    alike = sum(writes(fmt, sample) for sample in samples)
    return calls + texts, alike, sum(_agreement(fmt, sample) for sample in samples), ends, -notices


def _value(arguments: str) -> Any:
    try:
        return json.loads(arguments)
    except ValueError:
        return arguments
