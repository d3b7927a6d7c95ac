"""Hunyuan Hy3: GLM's argument tags in a block of their own; `<tool_sep>` ends the name.

    <tool_calls:opensource>
    <tool_call:opensource>get_weather<tool_sep:opensource>
    <arg_key:opensource>city</arg_key:opensource>
    <arg_value:opensource>Oslo</arg_value:opensource>
    </tool_call:opensource>
    </tool_calls:opensource>

The published checkpoints append `:opensource` to every tag, so that is written; tags without it are read as well.
"""

from ..description import Format
from ..shapes import hunyuan_turn

SUFFIX = ":opensource"

FORMAT = Format(
    name="hy_v3",
    aliases=("hunyuan_v3", "hy3"),
    models="Hunyuan Hy3",
    stop=(f"<｜hy_eos{SUFFIX}｜>", "<|hy_eos|>", "<|hy_end_of_sentence|>"),
    thinks_in_prompt=True,
    turn=hunyuan_turn(suffixes=(SUFFIX, ""), separated=True),
    sources=("https://huggingface.co/tencent/Hy3",),
)
