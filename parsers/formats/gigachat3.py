"""GigaChat 3: one call per turn, as JSON behind a token or in a message of the role `function call`.

    Let me look.<|function_call|>{"name": "get_weather", "arguments": {"city": "Oslo"}}

    Let me look.<|message_sep|>

    function call<|role_sep|>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}

The first is GigaChat 3.1, the second GigaChat 3.
"""

from ..description import Format, Messages, either, json_call, marker, seq

FORMAT = Format(
    name="gigachat3",
    aliases=("gigachat", "gigachat3_1"),
    models="GigaChat 3, GigaChat 3.1",
    stop=("</s>",),
    parallel=False,
    turn=Messages(
        either(
            seq(marker("<|function_call|>"), json_call),
            seq(marker("<|message_sep|>\n\nfunction call<|role_sep|>\n", "function call<|role_sep|>"), json_call),
        ),
        others=(marker("<|message_sep|>"),),
    ),
    sources=(
        "https://huggingface.co/ai-sage/GigaChat3-10B-A1.8B",
        "https://huggingface.co/ai-sage/GigaChat3.1-10B-A1.8B",
    ),
)
