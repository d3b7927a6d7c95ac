"""InternLM 2.5: one JSON object between special tokens.

Let me look.<|action_start|><|plugin|>
{"name": "get_weather", "parameters": {"city": "Oslo"}}<|action_end|>
"""

from ..description import Format, JsonCall, content, gap, interleaved, marker, seq, soft

FORMAT = Format(
    name="internlm2",
    aliases=("internlm",),
    models="InternLM 2, 2.5, 3",
    stop=("<|im_end|>",),
    parallel=False,
    turn=interleaved(
        content,
        seq(
            marker("<|action_start|>"),
            soft(marker("<|plugin|>")),
            gap("\n"),
            JsonCall(arguments=("parameters", "arguments")),
            soft(marker("<|action_end|>")),
        ),
    ),
    sources=("https://huggingface.co/internlm/internlm2_5-7b-chat",),
)
