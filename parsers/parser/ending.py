"""The end of a turn: what is still open is closed, given back or believed."""

from typing import TYPE_CHECKING

from ..automaton import SHORTEST_TAG
from ..description import Marker
from ..events import Finish

if TYPE_CHECKING:
    from . import Parser


def breaks_draft(parser: "Parser", *, may_end: bool) -> bool:
    """Whether the text ends where the open draft cannot, so that it was none."""
    if parser.drafts.open is None:
        return False
    unfinished = parser.calls.open and not parser.position.accepting
    return not may_end or parser.calls.name is not None or unfinished


def end_turn(parser: "Parser", *, may_end: bool) -> None:
    """Write the last events. `may_end`: the reader was at a place where a turn may end."""
    calls, framing, output = parser.calls, parser.framing, parser.output
    whole = may_end and parser.position.accepting
    if calls.open:
        if not whole and not calls.muted:
            parser.notice("truncated", "the turn ended inside a call")
        parser.close_call(complete=whole)
    if framing.behind_muted:
        parser.give_back()
    elif framing.held and not (whole and calls.name is None):
        parser.notice("truncated", "the turn ended before a call's name and arguments were there")
        if not _is_lone_marker(parser):
            parser.give_back()
    parser.drafts.believe()
    output.events += parser.closing_notices()
    output.events.append(Finish(calls.finish_reason(parser.reason)))


def _is_lone_marker(parser: "Parser") -> bool:
    """Whether all that is held is one marker behind a call, or the only thing in the turn: models begin a call and stop."""
    leaf, held = parser.position.leaf, "".join(parser.framing.held or ()).strip()
    if parser.calls.tools == {} or not isinstance(leaf, Marker) or len(held) < SHORTEST_TAG:
        return False
    return held in leaf.texts() and (parser.output.behind_call or not parser.output.wrote_content)
