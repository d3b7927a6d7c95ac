"""Solar Open: a turn of messages, each opened by what it is; the calls of a turn share one.

    <|think|>The user wants the weather.<|end|><|begin|>assistant<|tool_calls|><|tool_call:begin|>a1b2c3d4e5<|tool_call:name|>get_weather<|tool_call:args|>{"city": "Oslo"}<|tool_call:end|><|calls|>

    <|think|>It is sunny.<|end|><|begin|>assistant<|content|>It is sunny.<|end|>

The prompt ends in `<|begin|>assistant`; with little reasoning effort an empty thought stands before it.
"""  # noqa: E501 - the sample is one line

from ..description import (
    CallId,
    Format,
    Messages,
    call,
    json_arguments,
    many,
    marker,
    reasoning,
    said,
    seq,
    soft,
    tool_name,
    unwritten,
)

FORMAT = Format(
    name="solar_open",
    aliases=("solar",),
    models="Solar Open 100B",
    stop=("<|calls|>", "<|flush|>"),
    ids="ten small letters or digits",
    turn=Messages(
        seq(
            soft(marker("<|tool_calls|>")),
            many(
                call(
                    marker("<|tool_call:begin|>"),
                    CallId(sample="a1b2c3d4e5"),
                    marker("<|tool_call:name|>"),
                    tool_name,
                    marker("<|tool_call:args|>"),
                    json_arguments,
                    soft(marker("<|tool_call:end|>")),
                )
            ),
            unwritten(marker("<|calls|>")),
        ),
        thinking=seq(marker("<|think|>"), reasoning, soft(marker("<|end|>"))),
        answer=said(marker("<|content|>"), marker("<|end|>", "<|flush|>")),
        between=marker("<|begin|>assistant"),
    ),
    sources=("https://huggingface.co/upstage/Solar-Open-100B",),
)
