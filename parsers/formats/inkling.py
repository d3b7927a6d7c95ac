"""Inkling: a turn of typed blocks.

    <|content_thinking|>The user wants the weather.<|end_message|><|message_model|><|content_text|>Let me look.<|end_message|><|message_model|><|content_invoke_tool_json|>{"name": "get_weather", "args": {"city": "Oslo"}}<|end_message|><|content_model_end_sampling|>

A block with a tool's free text, or with a tool's error, that the model writes is shown as text: it is no call.
"""  # noqa: E501 - the sample is one line

from ..description import (
    Format,
    JsonCall,
    Messages,
    marker,
    reasoning,
    said,
    seq,
    soft,
)

FORMAT = Format(
    name="inkling",
    models="Inkling",
    stop=("<|content_model_end_sampling|>",),
    turn=Messages(
        seq(
            marker("<|content_invoke_tool_json|>"),
            JsonCall(arguments=("args", "arguments", "parameters")),
            soft(marker("<|end_message|>")),
        ),
        thinking=seq(marker("<|content_thinking|>"), reasoning, soft(marker("<|end_message|>"))),
        answer=said(
            marker("<|content_text|>", "<|content_invoke_tool_text|>", "<|content_tool_error|>"), marker("<|end_message|>")
        ),
        between=marker("<|message_model|>"),
    ),
    sources=("https://docs.vllm.ai/en/latest/features/tool_calling/",),
)
