"""Apertus: an array of objects with one key each, the tool's name.

<|inner_prefix|>The user wants the weather.<|inner_suffix|>Let me look.<|tools_prefix|>[{"get_weather": {"city": "Oslo"}}, {"now": {}}]<|tools_suffix|>
"""  # noqa: E501 - the sample is one line

from ..description import (
    Format,
    Messages,
    NameKeyedCall,
    many,
    marker,
    reasoning,
    seq,
    soft,
)

FORMAT = Format(
    name="apertus",
    models="Apertus 8B and 70B Instruct",
    stop=("<|assistant_end|>", "</s>"),
    turn=Messages(
        seq(
            marker("<|tools_prefix|>"),
            marker("["),
            many(NameKeyedCall(), separator=", ", spellings=(",",), tight=True),
            soft(marker("]")),
            soft(marker("<|tools_suffix|>")),
        ),
        thinking=seq(marker("<|inner_prefix|>"), reasoning, soft(marker("<|inner_suffix|>"))),
    ),
    sources=("https://huggingface.co/swiss-ai/Apertus-8B-Instruct-2509",),
)
