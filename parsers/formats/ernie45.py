"""ERNIE 4.5: Hermes calls, and the answer in a block of its own.

<think>
The user wants the weather.
</think>

<tool_call>
{"name": "get_weather", "arguments": {"city": "Oslo"}}
</tool_call>

<response>
It is sunny.
</response>
"""

from ..description import Format, content, gap, interleaved, json_call, marker, seq, soft, thinking, unwritten

FORMAT = Format(
    name="ernie45",
    aliases=("ernie", "ernie4_5"),
    models="ERNIE 4.5 (thinking)",
    stop=("</s>", "</response>"),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", interruptible=True),
        unwritten(marker("<response>")),
        interleaved(
            content,
            seq(gap("\n"), marker("<tool_call>"), gap("\n"), json_call, gap("\n"), soft(marker("</tool_call>"))),
        ),
    ),
    sources=("https://huggingface.co/baidu/ERNIE-4.5-21B-A3B-Thinking",),
)
