"""OLMo 3: Python calls, a line each, in a block.

    <function_calls>
    get_weather(city="Oslo", days=3)
    now()
    </function_calls>

The Think models' prompt opens `<think>`.
"""

from ..description import Format, content, gap, interleaved, many, marker, python_call, seq, thinking

FORMAT = Format(
    name="olmo3",
    aliases=("olmo",),
    models="OLMo 3 Instruct and Think",
    stop=("<|im_end|>", "<|endoftext|>"),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>"),
        interleaved(
            content,
            seq(
                marker("<function_calls>"),
                gap("\n"),
                many(python_call, separator="\n", spellings=(",",)),
                gap("\n"),
                marker("</function_calls>"),
            ),
        ),
    ),
    sources=("https://huggingface.co/allenai/Olmo-3-7B-Instruct",),
)
