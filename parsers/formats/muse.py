"""Muse (ATEM): a turn of messages with a recipient each; what is addressed to a tool holds the call.

     to=self<|message|>The user wants the weather.<|eom|><|start|>assistant to=commentary<|message|>Let me look.<|eom|><|start|>assistant to=weather.get<|message|><atem:function_calls>
    <atem:invoke name="weather.get">
    <atem:parameter name="city">Oslo</atem:parameter>
    <atem:parameter name="days">3</atem:parameter>
    </atem:invoke>
    </atem:function_calls><|eot|>

     to=user<|message|>It is sunny.<|eot|>

The prompt ends in `<|start|>assistant`. Values are verbatim and have no type of their own. Tools may be called by their
namespace and name. The same markup in a message to somebody else is text. Notes to oneself and to the developer are reasoning.
"""  # noqa: E501 - the sample is one line

from ..description import (
    Format,
    Messages,
    Node,
    ToolName,
    call,
    either,
    gap,
    led,
    many,
    marker,
    reasoning,
    said,
    seq,
    soft,
    tagged_arguments,
    unwritten,
)

_name = ToolName(spaced=True)
_invoke: Node = seq(
    marker('<atem:invoke name="'),
    _name,
    marker('">'),
    gap("\n"),
    tagged_arguments('<atem:parameter name="{key}">', "</atem:parameter>"),
    marker("</atem:invoke>"),
)

FORMAT = Format(
    name="muse",
    aliases=("muse_glimmer", "musespark1x", "glimmer"),
    models="Muse Glimmer, Muse Spark",
    stop=("<|eot|>",),
    turn=Messages(
        seq(
            either(
                call(
                    led(" to="),
                    ToolName(word=True, spaced=True),
                    marker("<|message|>"),
                    marker("<atem:function_calls>"),
                    gap("\n"),
                    _invoke,
                ),
                seq(marker("<|message|><atem:function_calls>"), gap("\n"), call(_invoke)),
            ),
            unwritten(many(call(_invoke))),
            gap("\n"),
            soft(marker("</atem:function_calls>")),
            soft(marker("<|eom|>")),
        ),
        thinking=seq(marker(" to=self<|message|>", "to=developer<|message|>"), reasoning, soft(marker("<|eom|>"))),
        answer=said(marker(" to=user<|message|>", "<|message|>"), marker("<|eot|>", "<|eom|>")),
        preamble=said(marker(" to=commentary<|message|>"), marker("<|eom|>")),
        between=marker("<|start|>assistant"),
    ),
    sources=("https://docs.vllm.ai/en/latest/features/tool_calling/",),
)
