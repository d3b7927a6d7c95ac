"""PLaMo 3: every part of a call between a beginning and an end of its own.

    <|plamo:begin_think:plamo|>The user wants the weather.<|plamo:end_think:plamo|>Let me look.<|plamo:begin_tool_requests:plamo|><|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>get_weather<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|><|plamo:constrain|>json<|plamo:msg|>{"city": "Oslo"}<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>

Each marker is several tokens, so a turn that is cut short may end inside one.
"""  # noqa: E501 - the sample is one line

from ..description import (
    Format,
    Messages,
    call,
    json_arguments,
    many,
    marker,
    reasoning,
    seq,
    soft,
    tool_name,
)

FORMAT = Format(
    name="plamo3",
    aliases=("plamo",),
    models="PLaMo 3",
    stop=("<|plamo:tag|>",),
    thinks_in_prompt=True,
    turn=Messages(
        seq(
            marker("<|plamo:begin_tool_requests:plamo|>"),
            many(
                call(
                    soft(marker("<|plamo:begin_tool_request:plamo|>")),
                    marker("<|plamo:begin_tool_name:plamo|>"),
                    tool_name,
                    marker("<|plamo:end_tool_name:plamo|>"),
                    marker("<|plamo:begin_tool_arguments:plamo|>"),
                    soft(marker("<|plamo:constrain|>json")),
                    soft(marker("<|plamo:msg|>")),
                    json_arguments,
                    soft(marker("<|plamo:end_tool_arguments:plamo|>")),
                    soft(marker("<|plamo:end_tool_request:plamo|>")),
                )
            ),
            soft(marker("<|plamo:end_tool_requests:plamo|>")),
        ),
        thinking=seq(marker("<|plamo:begin_think:plamo|>", "<think>"), reasoning, soft(marker("<|plamo:end_think:plamo|>"))),
    ),
    sources=("https://huggingface.co/pfnet",),
)
