"""Hunyuan Hy3 and Hy4: GLM's argument tags in a block of their own; Hy3 ends the name with `<tool_sep>`.

    <tool_calls>
    <tool_call>get_weather<tool_sep>
    <arg_key>city</arg_key>
    <arg_value>Oslo</arg_value>
    </tool_call>
    </tool_calls>

Checkpoints may append a suffix to every tag (`<tool_call:opensource>`).
"""

from ..description import Format, content, gap, interleaved, many, marker, optional, reasoning, seq, soft
from ..shapes import arg_key_call

_SUFFIX = ":opensource"

FORMAT = Format(
    name="hy_v3",
    aliases=("hy_v4", "hunyuan_v3", "hy3"),
    models="Hunyuan Hy3, Hy4",
    stop=("<|hy_eos|>", "<|hy_end_of_sentence|>", f"<｜hy_eos{_SUFFIX}｜>"),
    thinks_in_prompt=True,
    turn=seq(
        optional(
            marker("<think>", f"<think{_SUFFIX}>"),
            gap("\n"),
            reasoning,
            gap("\n"),
            soft(marker("</think>", f"</think{_SUFFIX}>")),
            gap("\n\n"),
        ),
        interleaved(
            content,
            seq(
                gap("\n"),
                soft(marker("<tool_calls>", f"<tool_calls{_SUFFIX}>")),
                gap("\n"),
                many(
                    arg_key_call(
                        name_end=soft(marker("<tool_sep>", f"<tool_sep{_SUFFIX}>")),
                        line="\n",
                        suffixes=(_SUFFIX,),
                    ),
                    separator="\n",
                ),
                gap("\n"),
                soft(marker("</tool_calls>", f"</tool_calls{_SUFFIX}>")),
            ),
        ),
    ),
    sources=("https://huggingface.co/tencent/Hy3",),
)
