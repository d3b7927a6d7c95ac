"""DeepSeek V4.1: DSML with a space behind the token and a shorter wrapper.

    Let me look.

    <｜DSML｜ calls>
    <｜DSML｜ invoke name="get_weather">
    <｜DSML｜ parameter name="city" string="true">Oslo</｜DSML｜ parameter>
    <｜DSML｜ parameter name="days" string="false">3</｜DSML｜ parameter>
    </｜DSML｜ invoke>
    </｜DSML｜ calls>

Text values are verbatim, no newline is trimmed. The prompt opens or closes the thinking. The bars are U+FF5C.
"""

from ..description import Format, content, interleaved, seq, thinking
from ..shapes import dsml_calls

FORMAT = Format(
    name="deepseek_v41",
    aliases=("deepseek_v4_1", "deepseekv41"),
    models="DeepSeek V4.1",
    stop=("<｜end▁of▁sentence｜>",),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", inner="", after="", interruptible=True),
        interleaved(content, dsml_calls("calls", "tool_calls", space=" ")),
    ),
    sources=("https://huggingface.co/deepseek-ai/DeepSeek-V4.1",),
)
