"""DeepSeek V3.1: name and JSON arguments between token markers, with no white space anywhere.

    Let me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{"city": "Oslo"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>

The prompt ends in `<think>` or `</think>`: the turn itself never has the opener. The bars are U+FF5C, the low lines U+2581.
"""  # noqa: E501 - the sample is one line

from ..description import (
    Format,
    call,
    content,
    interleaved,
    json_arguments,
    many,
    marker,
    seq,
    soft,
    thinking,
    tool_name,
    unwritten,
)

FORMAT = Format(
    name="deepseek_v31",
    aliases=("deepseekv31", "deepseek_v3_1"),
    models="DeepSeek V3.1, V3.1-Terminus",
    template="deepseek_v31.jinja",
    foreign=tuple(f"<｜tool▁{kind}▁{end}｜>" for kind in ("outputs", "output") for end in ("begin", "end")),
    stop=("<｜end▁of▁sentence｜>",),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", inner="", after="", interruptible=True),
        interleaved(
            content,
            seq(
                soft(marker("<｜tool▁calls▁begin｜>")),
                many(
                    marker("<｜tool▁call▁begin｜>"),
                    call(tool_name, soft(marker("<｜tool▁sep｜>")), unwritten(marker("```json")), json_arguments),
                    unwritten(marker("```")),
                    soft(marker("<｜tool▁call▁end｜>")),
                ),
                soft(marker("<｜tool▁calls▁end｜>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/deepseek-ai/DeepSeek-V3.1",),
)
