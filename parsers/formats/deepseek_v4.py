"""DeepSeek V4: DSML with another wrapper than V3.2.

    Let me look.

    <｜DSML｜tool_calls>
    <｜DSML｜invoke name="get_weather">
    <｜DSML｜parameter name="city" string="true">Oslo</｜DSML｜parameter>
    <｜DSML｜parameter name="days" string="false">3</｜DSML｜parameter>
    </｜DSML｜invoke>
    </｜DSML｜tool_calls>

Text values are verbatim, no newline is trimmed. The prompt opens or closes the thinking. The bars are U+FF5C.
"""

from ..description import Format, content, interleaved, seq, thinking
from ..shapes import dsml_calls

FORMAT = Format(
    name="deepseek_v4",
    aliases=("deepseekv4",),
    models="DeepSeek V4, V4-Flash",
    template="deepseek_v4.jinja",
    stop=("<｜end▁of▁sentence｜>",),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", inner="", after="", interruptible=True),
        interleaved(content, dsml_calls("tool_calls", "toolcalls", "tool", "function_calls")),
    ),
    sources=("https://huggingface.co/deepseek-ai/DeepSeek-V4",),
)
