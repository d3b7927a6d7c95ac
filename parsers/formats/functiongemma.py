"""FunctionGemma: Gemma 4's calls in their first spelling.

    Let me look.<start_function_call>call:get_weather{city:<escape>Oslo<escape>,days:3}<end_function_call><start_function_call>call:now{}<end_function_call>

Some templates put any value between `<escape>`s, numbers too: there the tool's schema says the type.
"""  # noqa: E501 - the sample is one line

from ..description import Format, Messages, QuotedArguments, call, marker, seq, soft, tool_name

FORMAT = Format(
    name="functiongemma",
    models="FunctionGemma 270M",
    stop=("<end_of_turn>", "<start_function_response>"),
    turn=Messages(
        seq(
            marker("<start_function_call>"),
            soft(marker("call:", ":")),
            call(tool_name, QuotedArguments("<escape>")),
            soft(marker("<end_function_call>")),
        ),
    ),
    sources=("https://ai.google.dev/gemma/docs/functiongemma", "https://huggingface.co/google/functiongemma-270m-it"),
)
