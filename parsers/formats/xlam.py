"""xLAM: a bare JSON array of calls, which some checkpoints fence, tag, or put behind their thinking.

[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "now", "arguments": {}}]
"""

from ..description import Format, JsonCall, content, interleaved, many, marker, seq, thinking, unwritten

_call = JsonCall(needs_arguments=True)

FORMAT = Format(
    name="xlam",
    aliases=("xlam2",),
    models="xLAM 1 and 2, on Llama and Qwen",
    stop=("<|im_end|>", "<|eot_id|>"),
    turn=seq(
        thinking("<think>", "</think>"),
        interleaved(
            content,
            seq(
                unwritten(marker("<tool_call>", "[TOOL_CALLS]", "```json")),
                marker("["),
                many(_call, separator=", ", spellings=(",",), tight=True),
                marker("]"),
                unwritten(marker("</tool_call>", "```")),
            ),
        ),
    ),
    sources=("https://huggingface.co/Salesforce/Llama-xLAM-2-8b-fc-r",),
)
