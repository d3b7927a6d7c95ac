"""GLM-4.7 and 5: name and argument tags with no white space anywhere.

    <tool_call>get_weather<arg_key>city</arg_key><arg_value>Oslo</arg_value><arg_key>days</arg_key><arg_value>3</arg_value></tool_call>

A call without arguments is `<tool_call>now</tool_call>`. Values are verbatim text or JSON, as the schema says. The prompt opens
the thinking; a call before `</think>` ends it.
"""

from ..description import Format, content, gap, interleaved, seq, thinking
from ..shapes import arg_key_call

FORMAT = Format(
    name="glm47",
    aliases=("glm5", "ling3", "poolside_v1", "poolside"),
    models="GLM-4.7, GLM-5 to 5.3; Ling 3; Poolside",
    template="glm47.jinja",
    stop=("<|observation|>", "<|user|>", "<|endoftext|>"),
    thinks_in_prompt=True,
    turn=seq(
        thinking("<think>", "</think>", inner="", after="", interruptible=True),
        interleaved(content, seq(gap(""), arg_key_call(name_end=gap(""), line=""))),
    ),
    sources=("https://huggingface.co/zai-org/GLM-4.7",),
)
