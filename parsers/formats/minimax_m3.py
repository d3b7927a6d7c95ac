"""MiniMax M3: nested elements, every tag behind the token `]<]minimax[>[`.

    <mm:think>The user wants the weather.</mm:think>Let me look.
    ]<]minimax[>[<tool_call>
    ]<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Oslo]<]minimax[>[</city>]<]minimax[>[</invoke>
    ]<]minimax[>[</tool_call>

Elements are named after arguments and nest; items of a list are `<item>` elements. The schema says the type of every value.
"""

from ..description import ElementArguments, Format, call, content, gap, interleaved, many, marker, seq, soft, thinking, tool_name

_TOKEN = "]<]minimax[>["

FORMAT = Format(
    name="minimax_m3",
    aliases=("minimax-m3",),
    models="MiniMax M3",
    stop=("[e~[",),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<mm:think>", "</mm:think>", inner="", after="", interruptible=True),
        interleaved(
            content,
            seq(
                gap("\n"),
                soft(marker(_TOKEN + "<tool_call>")),
                gap("\n"),
                many(
                    call(
                        marker(_TOKEN + '<invoke name="', _TOKEN + "<invoke name="),
                        tool_name,
                        marker('">', ">"),
                        ElementArguments(_TOKEN),
                        marker(_TOKEN + "</invoke>"),
                    ),
                    separator="\n",
                ),
                gap("\n"),
                soft(marker(_TOKEN + "</tool_call>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/MiniMaxAI/MiniMax-M3",),
)
