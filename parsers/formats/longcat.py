"""LongCat: a JSON object per block.

    <longcat_tool_call>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    </longcat_tool_call>

The thinking models think between `<longcat_think>` and `</longcat_think>`.
"""

from ..description import Format, content, gap, interleaved, json_call, marker, seq, soft, thinking

FORMAT = Format(
    name="longcat",
    aliases=("longcat_flash",),
    models="LongCat-Flash",
    stop=("</longcat_s>",),
    turn=seq(
        thinking("<longcat_think>", "</longcat_think>"),
        interleaved(
            content,
            seq(
                gap("\n"),
                marker("<longcat_tool_call>"),
                gap("\n"),
                json_call,
                gap("\n"),
                soft(marker("</longcat_tool_call>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/meituan-longcat/LongCat-Flash-Chat",),
)
