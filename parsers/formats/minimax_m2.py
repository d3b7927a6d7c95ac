"""MiniMax M2: XML-like invokes, nothing escaped, values verbatim.

    <think>
    The user wants the weather.
    </think>

    Let me look.
    <minimax:tool_call>
    <invoke name="get_weather">
    <parameter name="city">Oslo</parameter>
    <parameter name="days">3</parameter>
    </invoke>
    </minimax:tool_call>

The prompt opens the thinking. Names may stand in double quotes, single quotes, or none. The schema says a value's type.
"""

from ..description import Format, content, interleaved, marker, seq, thinking
from ..shapes import invoke_calls

FORMAT = Format(
    name="minimax_m2",
    aliases=("minimax-m2", "minimax_m2_append_think"),
    models="MiniMax M2, M2.1, M2.5",
    template="minimax_m2.jinja",
    stop=("[e~[",),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", interruptible=True),
        interleaved(
            content,
            invoke_calls(
                opener=marker("<minimax:tool_call>", "<tool_call>", "<tool_calls>", "<function_calls>"),
                closer=marker("</minimax:tool_call>", "</tool_call>", "</tool_calls>", "</function_calls>"),
            ),
        ),
    ),
    sources=("https://huggingface.co/MiniMaxAI/MiniMax-M2",),
)
