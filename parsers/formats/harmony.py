"""gpt-oss speaks harmony: a turn of messages, each with a channel and perhaps a recipient in its header.

    <|channel|>analysis<|message|>The user wants the weather.<|end|><|start|>assistant<|channel|>commentary to=functions.get_weather <|constrain|>json<|message|>{"city": "Oslo"}<|call|>

    <|channel|>analysis<|message|>It is sunny.<|end|><|start|>assistant<|channel|>final<|message|>It is sunny.<|return|>

The prompt ends in `<|start|>assistant`. Analysis is reasoning, final is content, commentary to nobody is content before a call.
The recipient may stand before the channel as well, a call may be made on the analysis channel, and the content type may be
missing. What the model tells itself (`to=assistant`) is reasoning. Headers that are none of these stay in the text.
"""  # noqa: E501 - the sample is one line

from ..description import (
    Format,
    Messages,
    Node,
    ToolName,
    call,
    either,
    json_arguments,
    led,
    marker,
    reasoning,
    said,
    seq,
    soft,
    unwritten,
)

_message = seq(
    marker("<|message|>"), soft(either(json_arguments, seq(marker("```json", "```"), json_arguments, soft(marker("```")))))
)
_body: Node = seq(
    either(
        seq(
            marker(" <|constrain|>json", "<|constrain|>", "json", "<|constrain|>code", "code"),
            either(_message, json_arguments),
        ),
        _message,
    ),
    unwritten(marker("<|call|>", "<|end|>")),
)
_recipient = ToolName("functions.", word=True)

FORMAT = Format(
    name="harmony",
    aliases=("openai", "openai_gptoss", "gpt_oss", "gptoss"),
    models="gpt-oss 20b and 120b",
    template="harmony.jinja",
    stop=("<|return|>", "<|call|>"),
    parallel=False,
    turn=Messages(
        either(
            call(
                marker(
                    "<|channel|>commentary to=",
                    "<|channel|>commentaryto=",
                    "<|channel|>analysis to=",
                    "<|channel|>analysiscommentary to=",
                    "<|channel|>final to=",
                    "<|channel|>commentary <|constrain|>json to=",
                    "<|channel|>commentary<|constrain|>json to=",
                    "<|channel|>commentary json to=",
                ),
                _recipient,
                unwritten(marker("<|channel|>commentary", "<|channel|>analysis")),
                _body,
            ),
            call(led(" to="), _recipient, marker("<|channel|>commentary", "<|channel|>analysis", "<|channel|>final"), _body),
        ),
        thinking=seq(
            marker(
                "<|channel|>analysis<|message|>",
                "<|channel|>analysiscommentary<|message|>",
                "<|channel|>commentary to=assistant<|message|>",
                "<|channel|>analysis to=assistant<|message|>",
            ),
            reasoning,
            soft(marker("<|end|>")),
        ),
        answer=said(
            marker(
                "<|channel|>final<|message|>",
                "<|channel|>final <|constrain|>json<|message|>",
                "<|channel|>final<|constrain|>json<|message|>",
                "<|channel|>final json<|message|>",
                "<|channel|>final",
            ),
            marker("<|return|>", "<|end|>"),
        ),
        preamble=said(
            marker("<|channel|>commentary<|message|>", "<|channel|>commentary <|constrain|>json<|message|>"), marker("<|end|>")
        ),
        between=marker("<|start|>assistant"),
    ),
    sources=(
        "https://cookbook.openai.com/articles/openai-harmony",
        "https://github.com/openai/harmony",
        "https://huggingface.co/openai/gpt-oss-20b",
    ),
)
