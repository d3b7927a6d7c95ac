"""Step-3: DeepSeek-like markers around XML-like invokes, values verbatim.

    <｜tool_calls_begin｜>
    <｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="get_weather">
    <steptml:parameter name="city">Oslo</steptml:parameter>
    </steptml:invoke><｜tool_call_end｜>
    <｜tool_calls_end｜>

The bars are U+FF5C.
"""

from ..description import Format, call, content, gap, interleaved, many, marker, seq, soft, tagged_arguments, thinking, tool_name

FORMAT = Format(
    name="step3",
    aliases=("step-3",),
    models="Step-3",
    stop=("<｜end▁of▁sentence｜>", "<|EOT|>"),
    turn=seq(
        thinking("<think>", "</think>"),
        interleaved(
            content,
            seq(
                gap("\n"),
                soft(marker("<｜tool_calls_begin｜>")),
                gap("\n"),
                many(
                    marker("<｜tool_call_begin｜>"),
                    soft(marker("function")),
                    soft(marker("<｜tool_sep｜>")),
                    call(
                        marker('<steptml:invoke name="', "<steptml:invoke name="),
                        tool_name,
                        marker('">', ">"),
                        gap("\n"),
                        tagged_arguments('<steptml:parameter name="{key}">', "</steptml:parameter>"),
                        soft(marker("</steptml:invoke>")),
                    ),
                    soft(marker("<｜tool_call_end｜>")),
                    separator="\n",
                ),
                gap("\n"),
                soft(marker("<｜tool_calls_end｜>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/stepfun-ai/step3",),
)
