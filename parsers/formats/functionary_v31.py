"""Functionary v3.1: JSON arguments in an element that carries the tool's name.

    Let me look.<function=get_weather>{"city": "Oslo"}</function><function=now>{}</function>

Code for the built-in interpreter, behind `<|python_tag|>`, is no call of a declared tool and stays text.
"""

from ..description import Format, call, content, interleaved, json_arguments, marker, seq, soft, tool_name
from ..shapes import function_end

FORMAT = Format(
    name="functionary_v31",
    aliases=("functionary", "functionary_v3_1", "functionary_v3_llama3_1"),
    models="Functionary v3.1, small and medium",
    stop=("<|eom_id|>", "<|eot_id|>"),
    turn=interleaved(
        content,
        seq(call(marker("<function="), tool_name, marker(">"), json_arguments, soft(function_end))),
    ),
    sources=("https://huggingface.co/meetkai/functionary-medium-v3.1", "https://github.com/MeetKai/functionary"),
)
