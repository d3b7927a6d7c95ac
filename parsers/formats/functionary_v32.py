"""Functionary v3.2: messages, each to a recipient: `all` for text, else the tool that takes the JSON behind it.

    >>>all
    Let me look.>>>get_weather
    {"city": "Oslo"}>>>now
    {}

The prompt writes the first `>>>`. Code for the built-in interpreter (`>>>python`) is no call of a declared tool and stays text.
"""

from ..description import Format, Marker, Messages, Said, call, gap, json_arguments, many, marker, tool_name

FORMAT = Format(
    name="functionary_v32",
    aliases=("functionary_v3_2",),
    models="Functionary v3.2, small and medium",
    stop=("<|eot_id|>", "<|end_of_text|>"),
    turn=Messages(
        many(call(marker(">>>"), tool_name, gap("\n"), json_arguments)),
        answer=Said(Marker(">>>all\n", whole_line=True)),
    ),
    sources=("https://huggingface.co/meetkai/functionary-small-v3.2", "https://github.com/MeetKai/functionary"),
)
