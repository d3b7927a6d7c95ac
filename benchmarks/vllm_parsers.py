"""The cost of vLLM's own streaming tool parsers, run by vLLM's interpreter; benchmarks/parser.py starts it.

Standard input is one JSON object: `tokenizer` (a folder), `special` (texts that must be one token), `tools`, `turns` (parser name
to text), `seconds` (after which a parser is cut off). One line of JSON comes out for each turn: its name, the texts of its
tokens, and the microseconds a token.
"""

import json
import os
import sys
import time
from typing import Any

os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from tokenizers.decoders import DecodeStream
from transformers import AutoTokenizer
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.tool_parsers import ToolParserManager


def deltas(text: str, tokenizer: Any) -> list[tuple[str, int]]:
    """The text token by token, as an engine decodes it."""
    stream = DecodeStream(skip_special_tokens=False)
    ids = tokenizer.encode(text, add_special_tokens=False)
    return [(stream.step(tokenizer._tokenizer, token) or "", token) for token in ids]


def microseconds(name: str, pieces: list[tuple[str, int]], request: Any, *, tokenizer: Any, seconds: float) -> float:
    """What one token costs the parser."""
    parser = ToolParserManager.get_tool_parser(name)(tokenizer, request.tools)
    text, ids, spent, done = "", [], 0.0, 0
    for delta, token in pieces:
        grown, grown_ids = text + delta, [*ids, token]
        began = time.thread_time()
        parser.extract_tool_calls_streaming(text, grown, delta, ids, grown_ids, [token], request)
        spent += time.thread_time() - began
        text, ids, done = grown, grown_ids, done + 1
        if spent > seconds:
            break
    return spent / max(done, 1) * 1e6


def main() -> None:
    asked = json.load(sys.stdin)
    tokenizer = AutoTokenizer.from_pretrained(asked["tokenizer"])
    tokenizer.add_special_tokens({"additional_special_tokens": asked["special"]})
    message = [{"role": "user", "content": "x"}]
    request = ChatCompletionRequest(model="m", messages=message, tools=asked["tools"], tool_choice="auto")
    for name, text in asked["turns"].items():
        pieces = deltas(text, tokenizer)
        try:
            cost = microseconds(name, pieces, request, tokenizer=tokenizer, seconds=asked["seconds"])
        except Exception as error:  # another program's parser: whatever it raises is its result
            sys.stderr.write(f"{name}: {type(error).__name__}: {error}\n")
            continue
        print(json.dumps({"name": name, "deltas": [delta for delta, _ in pieces], "cost": cost}), flush=True)


if __name__ == "__main__":
    main()
