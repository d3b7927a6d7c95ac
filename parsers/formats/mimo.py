"""MiMo: Qwen's tags, with values verbatim.

    <tool_call>
    <function=get_weather>
    <parameter=city>Oslo</parameter>
    </function>
    </tool_call>

No newline beside a value is framing.
"""

from ..description import Format, content, gap, interleaved, json_call, marker, seq, soft, thinking
from ..shapes import function_call, in_block

FORMAT = Format(
    name="mimo",
    aliases=("mimo_v2", "mimo_v2_flash"),
    models="MiMo-V2, MiMo-V2-Flash",
    stop=("<|im_end|>", "<|endoftext|>"),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", inner="", after="", interruptible=True),
        interleaved(
            content,
            seq(
                gap("\n"),
                in_block(marker("<tool_call>"), function_call(), json_call),
                soft(marker("</tool_call>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/XiaomiMiMo/MiMo-V2-Flash",),
)
