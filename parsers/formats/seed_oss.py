"""Seed-OSS: Qwen's tags under markers of its own, values on one line with their tags.

    <seed:think>The user wants the weather.</seed:think>Let me look.
    <seed:tool_call>
    <function=get_weather>
    <parameter=city>Oslo</parameter>
    </function>
    </seed:tool_call>

`<seed:cot_budget_reflect>` blocks inside the thinking are thinking.
"""

from ..description import Format, content, gap, interleaved, marker, seq, soft, thinking
from ..shapes import function_call

FORMAT = Format(
    name="seed_oss",
    aliases=("seed36b", "seed"),
    models="Seed-OSS-36B",
    stop=("<seed:eos>",),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<seed:think>", "</seed:think>", inner="", after="", interruptible=True),
        interleaved(
            content,
            seq(
                gap("\n"),
                soft(marker("<seed:tool_call>")),
                gap("\n"),
                function_call(),
                gap("\n"),
                soft(marker("</seed:tool_call>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/ByteDance-Seed/Seed-OSS-36B-Instruct",),
)
