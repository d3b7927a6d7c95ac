"""xLAM: a bare JSON array of calls, which some checkpoints fence, tag, or put behind their thinking; xLAM 1 puts it in an object.

[{"name": "get_weather", "arguments": {"city": "Oslo"}}, {"name": "now", "arguments": {}}]
{"tool_calls": [{"name": "now", "arguments": {}}]}
"""

from ..description import Format, JsonCall, content, either, interleaved, many, marker, seq, soft, thinking, unwritten

_calls = seq(marker("["), many(JsonCall(needs_arguments=True), separator=", ", spellings=(",",), tight=True), marker("]"))

FORMAT = Format(
    name="xlam",
    aliases=("xlam2",),
    models="xLAM 1 and 2, on Llama and Qwen",
    stop=("<|im_end|>", "<|eot_id|>"),
    turn=seq(
        thinking("<think>", "</think>"),
        interleaved(
            content,
            either(
                seq(
                    unwritten(marker("<tool_call>", "[TOOL_CALLS]", "```json")),
                    _calls,
                    unwritten(marker("</tool_call>", "```")),
                ),
                seq(
                    marker('{"tool_calls":', '{ "tool_calls":', '{\n"tool_calls":', '{\n  "tool_calls":'),
                    _calls,
                    soft(marker("}")),
                ),
            ),
        ),
    ),
    sources=("https://huggingface.co/Salesforce/Llama-xLAM-2-8b-fc-r",),
)
