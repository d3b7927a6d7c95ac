"""DeepSeek V3-0324 and R1-0528: fenced JSON between token markers.

    Let me look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>get_weather
    ```json
    {"city": "Oslo"}
    ```<｜tool▁call▁end｜>
    <｜tool▁call▁begin｜>function<｜tool▁sep｜>now
    ```json
    {}
    ```<｜tool▁call▁end｜><｜tool▁calls▁end｜>

The bars are U+FF5C, the low lines U+2581.
"""

from ..description import (
    Format,
    call,
    content,
    gap,
    interleaved,
    json_arguments,
    many,
    marker,
    seq,
    soft,
    thinking,
    tool_name,
)

FORMAT = Format(
    name="deepseek_v3",
    aliases=("deepseek_r1", "deepseekv3"),
    models="DeepSeek V3, V3-0324, R1, R1-0528",
    template="deepseek_v3.jinja",
    foreign=tuple(f"<｜tool▁{kind}▁{end}｜>" for kind in ("outputs", "output") for end in ("begin", "end")),
    stop=("<｜end▁of▁sentence｜>",),
    turn=seq(
        thinking("<think>", "</think>", interruptible=True),
        interleaved(
            content,
            seq(
                soft(marker("<｜tool▁calls▁begin｜>")),
                many(
                    marker("<｜tool▁call▁begin｜>"),
                    soft(marker("function")),
                    marker("<｜tool▁sep｜>"),
                    call(tool_name, gap("\n"), soft(marker("```json")), gap("\n"), json_arguments),
                    gap("\n"),
                    soft(marker("```")),
                    soft(marker("<｜tool▁call▁end｜>")),
                    separator="\n",
                ),
                soft(marker("<｜tool▁calls▁end｜>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/deepseek-ai/DeepSeek-V3-0324", "https://huggingface.co/deepseek-ai/DeepSeek-R1-0528"),
)
