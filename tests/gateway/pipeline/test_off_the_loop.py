"""Long prompts are rendered and encoded off the event loop, so that nobody waits for somebody else's."""

import asyncio
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from gateway.chat.plan import Prompt
from gateway.errors import RequestError
from gateway.rendering import Renderer
from tests.support.planned import asked, scripted
from tests.support.tokenizers import byte_level
from tests.support.walk import Walk, reads_of

PATIENCE = 60.0


class Waiting:
    """A renderer that renders only after the event loop has turned."""

    def __init__(self, inner: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._inner = inner
        self._loop = loop

    def render(self, messages: Any, tools: Any, template_kwargs: Any, *, continues: bool) -> Prompt:
        turned = threading.Event()
        self._loop.call_soon_threadsafe(turned.set)
        if not turned.wait(PATIENCE):
            raise RequestError("the event loop stands still while a prompt is rendered")
        prompt: Prompt = self._inner.render(messages, tools, template_kwargs, continues=continues)
        return prompt


def test_the_loop_turns_while_a_long_prompt_is_rendered(tmp_path: Path) -> None:
    async def answer() -> str:
        spec = scripted(tmp_path, "Hello.")
        spec = replace(spec, renderer=Waiting(spec.renderer, asyncio.get_running_loop()))
        async with Walk(spec).pipeline.open(asked("long " * 10_000)) as turn:
            return "".join(
                [getattr(event, "text", "") for read in await reads_of(turn) for batch in read for event in batch.events]
            )

    assert asyncio.run(answer()) == "Hello."


def test_the_interpreter_goes_on_while_a_long_text_is_encoded(tmp_path: Path) -> None:
    encoder = Renderer.load(str(byte_level(tmp_path, "{{ messages }}"))).encoder
    assert encoder is not None
    text = " ".join(f"{number:x}" for number in range(400_000))
    thread = threading.Thread(target=encoder.encode, args=(text, encoder.shield()))
    turns = 0
    thread.start()
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    assert turns > 5, "encoding holds the interpreter to its end"
