"""MiniCPM3: Python calls, a line each, in a fence between special tokens.

    <|thought_start|>
    The user wants the weather.
    <|thought_end|>
    <|tool_call_start|>
    ```python
    get_weather(city="Oslo", days=3)
    now()
    ```
    <|tool_call_end|>
    Let me look.

The text of a turn stands behind its calls.
"""

from ..description import Format, content, gap, interleaved, many, marker, python_call, seq, soft, thinking

FORMAT = Format(
    name="minicpm3",
    aliases=("minicpm4", "minicpm4_mcp"),
    models="MiniCPM3, MiniCPM4-MCP",
    stop=("<|im_end|>", "</s>"),
    turn=seq(
        thinking("<|thought_start|>", "<|thought_end|>", after="\n"),
        interleaved(
            content,
            seq(
                gap("\n"),
                marker("<|tool_call_start|>"),
                gap("\n"),
                soft(marker("```python", "```")),
                gap("\n"),
                many(python_call, separator="\n", spellings=(",", ";")),
                gap("\n"),
                soft(marker("```")),
                gap("\n"),
                marker("<|tool_call_end|>"),
            ),
        ),
    ),
    sources=("https://huggingface.co/openbmb/MiniCPM3-4B", "https://github.com/OpenBMB/MiniCPM"),
)
