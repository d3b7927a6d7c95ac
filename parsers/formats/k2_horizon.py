"""K2-Horizon: keys and values between tags, or JSON, as the prompt asks for.

    <ifm|think>The user wants the weather.</ifm|think>Let me look.<ifm|tool_calls><ifm|tool_call>get_weather<ifm|arg_key>city</ifm|arg_key><ifm|arg_value>Oslo</ifm|arg_value><ifm|arg_key>days</ifm|arg_key><ifm|arg_value>3</ifm|arg_value></ifm|tool_call></ifm|tool_calls>

    <ifm|tool_calls><ifm|tool_call>get_weather<ifm|arg_key>days</ifm|arg_key><ifm|arg_type>integer</ifm|arg_type><ifm|arg_value>3</ifm|arg_value></ifm|tool_call></ifm|tool_calls>

    <ifm|tool_calls><ifm|tool_call>{"name": "get_weather", "arguments": {"city": "Oslo"}}</ifm|tool_call></ifm|tool_calls>

Values are verbatim; where no tag says their type, the tool's schema does.
"""  # noqa: E501 - the samples are one line each

from ..description import (
    Format,
    Messages,
    TaggedArguments,
    call,
    either,
    json_call,
    many,
    marker,
    reasoning,
    seq,
    soft,
    tool_name,
)

FORMAT = Format(
    name="k2_horizon",
    models="K2-Horizon",
    stop=("<|im_end|>",),
    thinks_in_prompt=True,
    turn=Messages(
        seq(
            marker("<ifm|tool_calls>"),
            many(
                marker("<ifm|tool_call>"),
                either(
                    call(
                        tool_name,
                        TaggedArguments(
                            "<ifm|arg_key>{key}</ifm|arg_key><ifm|arg_value>",
                            "</ifm|arg_value>",
                            joint="",
                            aside="<ifm|arg_type>{type}</ifm|arg_type>",
                        ),
                        marker("</ifm|tool_call>"),
                    ),
                    seq(json_call, marker("</ifm|tool_call>")),
                ),
                separator="\n",
            ),
            soft(marker("</ifm|tool_calls>")),
        ),
        thinking=seq(marker("<ifm|think>"), reasoning, soft(marker("</ifm|think>"))),
    ),
    sources=("https://huggingface.co/LLM360",),
)
