"""Kimi K3: elements between three control tokens; every argument says its type.

    <|open|>think<|sep|>The user wants the weather.<|close|>think<|sep|><|open|>response<|sep|>Let me look.<|close|>response<|sep|><|open|>tools<|sep|><|open|>call tool="get_weather" index="1"<|sep|><|open|>argument key="city" type="string"<|sep|>Oslo<|close|>argument<|sep|><|open|>argument key="days" type="number"<|sep|>3<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|><|close|>message<|sep|>

Text is verbatim, every other value is JSON; `&` and `"` are entities in attributes. The index begins anew in every message, so
it is no id. The prompt may have opened `think` or `response`.
"""  # noqa: E501 - the sample is one line

from ..description import (
    Filler,
    Format,
    Marker,
    Messages,
    TaggedArguments,
    ToolName,
    call,
    many,
    marker,
    reasoning,
    said,
    seq,
    soft,
)


def _tag(token: str, name: str) -> Marker:
    return marker(f"<|{token}|>{name}<|sep|>", f"<|{token}|> {name} <|sep|>")


FORMAT = Format(
    name="kimi_k3",
    models="Kimi K3",
    stop=("<|im_end|>",),
    turn=Messages(
        seq(
            soft(_tag("open", "tools")),
            many(
                call(
                    marker('<|open|>call tool="'),
                    ToolName(escaped=True),
                    soft(marker('" index="'), Filler(first=1)),
                    marker('"<|sep|>'),
                    TaggedArguments(
                        '<|open|>argument key="{key}" type="{type}"<|sep|>', "<|close|>argument<|sep|>", joint="", escaped=True
                    ),
                    _tag("close", "call"),
                )
            ),
            soft(_tag("close", "tools")),
        ),
        thinking=seq(_tag("open", "think"), reasoning, soft(_tag("close", "think"))),
        answer=said(_tag("open", "response"), _tag("close", "response")),
        others=(_tag("close", "message"),),
    ),
    sources=("https://huggingface.co/moonshotai",),
)
