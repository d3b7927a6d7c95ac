"""What stands around the texts in vLLM's own stream: the same from chunk to chunk, or nothing could go the short way."""

import httpx

from gateway.backends.completions import CompletionsReader
from tests.support.server import PATIENCE

TOKENS = 60


def test_the_frame_of_a_stream_stays(random_engine: str) -> None:
    model = httpx.get(f"{random_engine}/v1/models", timeout=PATIENCE).json()["data"][0]["id"]
    body = {
        "model": model,
        "prompt": "Hello",
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_tokens": TOKENS,
        "ignore_eos": True,
        "seed": 1,
    }
    reader = CompletionsReader(choices=1, top_logprobs=None)
    fitted = read = 0
    with httpx.stream("POST", f"{random_engine}/v1/completions", json=body, timeout=PATIENCE) as answer:
        assert answer.status_code == 200
        for block in answer.iter_raw():
            texts = None if reader.frame is None else reader.frame.texts_of(block)
            pieces = reader.feed(block)
            read += sum(bool(piece.text) for piece in pieces)
            if texts is not None:
                assert [piece.text for piece in pieces] == texts
                fitted += sum(map(bool, texts))
    assert reader.done
    assert fitted >= read - 4, "all but the first text and what came with the last one"
    assert read > TOKENS / 2
