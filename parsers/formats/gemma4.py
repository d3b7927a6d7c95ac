"""Gemma 4: bare keys, and strings between quote tokens.

    <|channel>thought
    The user wants the weather.
    <channel|>Let me look.<|tool_call>call:get_weather{city:<|"|>Oslo<|"|>,days:3,wind:true,near:[<|"|>Moss<|"|>]}<tool_call|><|tool_call>call:now{}<tool_call|><|tool_response>

A turn with calls ends in `<|tool_response>`, any other in `<turn|>`. Nothing is escaped: a string ends at a quote token that a comma or the end of the object follows.
After a tool's result the prompt may already stand inside the thought.
"""  # noqa: E501 - the calls are one line

from ..description import (
    Format,
    Messages,
    QuotedArguments,
    ToolName,
    call,
    gap,
    marker,
    reasoning,
    seq,
    soft,
    surplus,
    unwritten,
)

FORMAT = Format(
    name="gemma4",
    aliases=("gemma", "gemma_4", "diffusiongemma"),
    models="Gemma 4, DiffusionGemma",
    stop=("<turn|>", "<|tool_response>"),
    thinks_in_prompt=True,
    turn=Messages(
        seq(
            marker("<|tool_call>"),
            soft(marker("call:", ":")),
            call(ToolName(spaced=True), QuotedArguments('<|"|>')),
            unwritten(surplus("}")),
            soft(marker("<tool_call|>"), unwritten(surplus("<tool_call|>"))),
        ),
        thinking=seq(marker("<|channel>"), soft(marker("thought")), gap("\n"), reasoning, gap("\n"), soft(marker("<channel|>"))),
    ),
    sources=("https://ai.google.dev/gemma/docs", "https://huggingface.co/google/gemma-4-31B-it"),
)
