"""DeepSeek V3.2: DSML, tags that say themselves whether a value is text or JSON.

    Let me look.

    <｜DSML｜function_calls>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜function_calls>

Text values are verbatim, no newline is trimmed. The prompt opens or closes the thinking. The bars are U+FF5C.
"""

from ..description import Format, content, interleaved, seq, thinking
from ..shapes import dsml_calls

FORMAT = Format(
    name="deepseek_v32",
    aliases=("deepseek_v3_2", "deepseekv32"),
    models="DeepSeek V3.2, V3.2-Exp",
    template="deepseek_v32.jinja",
    stop=("<｜end▁of▁sentence｜>",),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", inner="", after="", interruptible=True),
        interleaved(content, dsml_calls("function_calls", "tool_calls")),
    ),
    sources=("https://huggingface.co/deepseek-ai/DeepSeek-V3.2",),
)
