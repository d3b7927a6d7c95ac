"""Qwen3-Coder and later Qwen, Nemotron 3, Granite 4.2, Step 3.5: tags around text, nothing escaped.

    <think>
    The user wants the weather.
    </think>

    Let me look.
    <tool_call>
    <function=get_weather>
    <parameter=city>
    Oslo
    </parameter>
    <parameter=days>
    3
    </parameter>
    </function>
    </tool_call>

One newline on either side of a value is framing, everything else of it is data. Values have no type of their own: the tool's
schema says it. A call before `</think>` ends reasoning.
"""

from ..description import Format, content, gap, interleaved, json_call, marker, seq, soft, thinking
from ..shapes import function_call, in_block

FORMAT = Format(
    name="qwen3_coder",
    aliases=("qwen3_xml", "qwen3_coder_xml", "nemotron_v3", "qwen3_5", "step3p5", "step5"),
    models="Qwen3-Coder, Qwen3-Next-Coder, Qwen3.5, 3.6, 3.8; Nemotron 3; Granite 4.2; Step 3.5, 3.7, 5",
    template="qwen3_coder.jinja",
    stop=("<|im_end|>", "<|endoftext|>"),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", interruptible=True),
        interleaved(
            content,
            seq(
                gap("\n"),
                in_block(marker("<tool_call>"), function_call(trim=True), json_call),
                gap("\n"),
                soft(marker("</tool_call>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/Qwen/Qwen3-Coder-30B-A3B-Instruct", "https://huggingface.co/Qwen/Qwen3.5-4B"),
)
