"""Hunyuan Hy4: the block of Hy3 without `<tool_sep>`.

    <tool_calls>
    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Oslo</arg_value>
    </tool_call>
    </tool_calls>

Checkpoints may append a suffix to every tag (`<tool_call:opensource>`), and older ones end the name as Hy3 does.
"""

from ..description import Format
from ..shapes import hunyuan_turn

FORMAT = Format(
    name="hy_v4",
    aliases=("hunyuan_v4", "hy4"),
    models="Hunyuan Hy4",
    stop=("<|hy_eos|>", "<|hy_end_of_sentence|>", "<｜hy_eos:opensource｜>"),
    thinks_in_prompt=True,
    turn=hunyuan_turn(suffixes=("", ":opensource"), separated=False),
    sources=("https://github.com/vllm-project/vllm/tree/main/vllm/tool_parsers",),
)
