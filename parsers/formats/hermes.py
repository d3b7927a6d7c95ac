"""Hermes, and the Qwen models that speak it: one JSON object per `<tool_call>` block.

    <think>
    The user wants the weather.
    </think>

    Let me look.
    <tool_call>
    {"name": "get_weather", "arguments": {"city": "Oslo"}}
    </tool_call>
    <tool_call>
    {"name": "get_time", "arguments": {"zone": "CET"}}
    </tool_call>

Where no `<think>` stands in the turn the prompt may have opened it. A call before `</think>` ends reasoning.
"""

from ..description import (
    Format,
    JsonCall,
    array_end,
    bare,
    content,
    either,
    gap,
    interleaved,
    json_call,
    many,
    marker,
    python_call,
    seq,
    soft,
    thinking,
    unwritten,
)

_several = seq(marker("["), many(json_call, separator=",", tight=True), array_end)
_whole_call = JsonCall(needs_arguments=True)
_whole_array = seq(marker("["), many(_whole_call, separator=",", tight=True), array_end)
_block = seq(
    gap("\n"),
    marker("<tool_call>", "<function_call>"),
    gap("\n"),
    unwritten(marker("```json", "```")),
    either(seq(json_call, unwritten(many(unwritten(marker(",")), json_call))), _several, python_call),
    unwritten(marker("```")),
    gap("\n"),
    soft(marker("</tool_call>", "</function_call>")),
)
_given = JsonCall(arguments=("arguments",), needs_arguments=True)
_among_tools = seq(
    marker("<tools>"),
    either(many(_given), seq(marker("["), many(_given, separator=",", tight=True), array_end)),
    soft(marker("</tools>")),
)
"""Qwen2.5-Coder puts calls between the tags in which the prompt lists the tools; such a list is none."""

FORMAT = Format(
    name="hermes",
    aliases=("qwen3_json", "qwen2_5", "qwen25", "qwen", "qwen3", "qwq"),
    models="Hermes 2 Pro, 3, 4; Qwen2.5; QwQ; Qwen3 (dense and MoE); SmolLM2 with our template",
    template="hermes.jinja",
    stop=("<|im_end|>", "<|endoftext|>"),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", interruptible=True),
        interleaved(
            content,
            either(
                _block,
                _among_tools,
                bare(_whole_call, unwritten(marker("</tool_call>"))),
                bare(_whole_array),
                bare(marker("```json", "```"), either(_whole_call, _whole_array), marker("```")),
            ),
        ),
    ),
    sources=("https://huggingface.co/Qwen/Qwen3-8B", "https://huggingface.co/NousResearch/Hermes-3-Llama-3.1-8B"),
)
