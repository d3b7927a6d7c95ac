"""Dots: XML-like invokes, values verbatim; some turns carry a JSON object instead.

<dots_function_call><invoke name="get_weather"><parameter name="city">Oslo</parameter></invoke></dots_function_call>
"""

from ..description import (
    Format,
    call,
    content,
    either,
    interleaved,
    json_call,
    many,
    marker,
    seq,
    soft,
    tagged_arguments,
    thinking,
    tool_name,
)

_invoke = call(
    marker('<invoke name="', "<invoke name="),
    tool_name,
    marker('">', ">"),
    tagged_arguments('<parameter name="{key}">', "</parameter>", joint=""),
    soft(marker("</invoke>")),
)

FORMAT = Format(
    name="dots",
    aliases=("dots1", "dots_llm"),
    models="dots.llm1, dots.llm2",
    stop=("<|endofassistant|>", "<|endofresponse|>"),
    turn=seq(
        thinking("<think>", "</think>", interruptible=True),
        interleaved(
            content,
            seq(
                marker("<dots_function_call>"),
                either(many(_invoke), many(json_call, separator="\n")),
                soft(marker("</dots_function_call>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/rednote-hilab/dots.llm1.inst",),
)
