"""GLM-4.5 and 4.6: name and argument tags, a line each.

    <tool_call>get_weather
    <arg_key>city</arg_key>
    <arg_value>Oslo</arg_value>
    </tool_call>

Values are verbatim text or JSON, as the schema says. A call before `</think>` ends the thinking.
"""

from ..description import Format, content, gap, interleaved, seq, thinking
from ..shapes import arg_key_call

FORMAT = Format(
    name="glm45",
    aliases=("glm46", "glm4_moe"),
    models="GLM-4.5, GLM-4.5-Air, GLM-4.6",
    template="glm45.jinja",
    stop=("<|observation|>", "<|user|>", "<|endoftext|>"),
    turn=seq(
        thinking("<think>", "</think>", inner="", after="\n", interruptible=True),
        interleaved(content, seq(gap("\n"), arg_key_call(name_end=gap(""), line="\n"))),
    ),
    sources=("https://huggingface.co/zai-org/GLM-4.5", "https://huggingface.co/zai-org/GLM-4.6"),
)
