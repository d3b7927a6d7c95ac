"""MiniCPM5: XML elements; text that XML would mind stands in a CDATA section.

    <think>
    The user wants the weather.
    </think>

    Let me look.
    <function name="get_weather"><param name="city">Oslo</param><param name="days">3</param></function>
    <function name="write_file"><param name="content"><![CDATA[<p>
    hello</p>]]></param></function>

Values have no type of their own: the tool's schema says it. Outside of CDATA they are verbatim, entities are not undone. Small
checkpoints lose the space inside a tag, or write the tokenizer's sign for it. The markup is so plain that a call to a declared
tool counts only if the tool has its first argument.
"""

from ..description import (
    Format,
    TaggedArguments,
    call,
    content,
    gap,
    interleaved,
    marker,
    seq,
    thinking,
    tool_name,
)

FORMAT = Format(
    name="minicpm5",
    aliases=("minicpm",),
    models="MiniCPM5",
    stop=("<|im_end|>",),
    turn=seq(
        thinking("<think>", "</think>"),
        interleaved(
            content,
            seq(
                gap("\n"),
                call(
                    marker('<function name="', '<functionĠname="', '<functionname="'),
                    tool_name,
                    marker('">'),
                    TaggedArguments('<param name="{key}">', "</param>", joint="", spaces=("Ġ", ""), cdata=True, declared=True),
                    marker("</function>"),
                ),
            ),
        ),
    ),
    sources=("https://huggingface.co/openbmb/MiniCPM5-1B",),
)
