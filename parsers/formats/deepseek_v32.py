"""DeepSeek V3.2: DSML, tags that say themselves whether a value is text or JSON.

    Let me look.

    <｜DSML｜function_calls>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜function_calls>

Text values are verbatim, no newline is trimmed. The bars are U+FF5C.
"""

from ..description import (
    Format,
    call,
    content,
    either,
    gap,
    interleaved,
    json_arguments,
    many,
    marker,
    seq,
    soft,
    tagged_arguments,
    thinking,
    tool_name,
)

_parameters = tagged_arguments(
    '<｜DSML｜parameter name="{key}" string="{string}">',
    "</｜DSML｜parameter>",
    unwrap=("arguments", "input"),
)

FORMAT = Format(
    name="deepseek_v32",
    aliases=("deepseek_v3_2", "deepseekv32"),
    models="DeepSeek V3.2, V3.2-Exp",
    template="deepseek_v32.jinja",
    stop=("<｜end▁of▁sentence｜>",),
    turn=seq(
        thinking("<think>", "</think>", inner="", after=""),
        interleaved(
            content,
            seq(
                gap("\n\n"),
                soft(marker("<｜DSML｜function_calls>", "<｜DSML｜tool_calls>")),
                gap("\n"),
                many(
                    call(
                        marker('<｜DSML｜invoke name="'),
                        tool_name,
                        marker('">'),
                        gap("\n"),
                        either(_parameters, json_arguments),
                        soft(marker("</｜DSML｜invoke>")),
                    ),
                    separator="\n",
                ),
                gap("\n"),
                soft(marker("</｜DSML｜function_calls>", "</｜DSML｜tool_calls>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/deepseek-ai/DeepSeek-V3.2",),
)
