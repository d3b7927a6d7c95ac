"""What the scripted model says to each client: the tasks of the scenarios, and the models that fail."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from tests.support.server import Gateway, replay_model, serving
from tests.support.tokenizers import byte_level

SECRET = "4711"
"""What stands in the file that clients read: the model can only know it from the tool's result."""
FILE = f"The code of the door is {SECRET}.\n"


def call(name: str, /, **arguments: Any) -> str:
    """A call as Hermes models write it."""
    return f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"


def step(tool: str, **arguments: Any) -> str:
    """A step of DSPy's agent."""
    return json.dumps({"next_thought": "I will.", "next_tool_name": tool, "next_tool_args": arguments})


PERSON = {"name": "Anna", "age": 31}
ENDINGS = [(SECRET, f"The file says that the code is {SECRET}."), ("degrees", "It has 7 degrees."), ("pong", "The server is up.")]
"""What is answered to the results of the tools."""
CALLS = [
    {"match": "Oslo and Rome", "text": f"{call('get_weather', city='Oslo')}\n{call('get_weather', city='Rome')}"},
    {"match": "weather in Oslo", "text": "I will look.\n" + call("get_weather", city="Oslo")},
    {"match": "read notes.txt", "text": call("read_file", path="notes.txt")},
    {"match": "ping the server", "text": call("ping")},
]
TURNS: list[dict[str, Any]] = [
    # Marvin wants every answer as a call, and smolagents too, which tells results as the user; DSPy's agent works in texts.
    *(
        {"role": "tool", "match": f"Task: .*{told}", "text": call("MarkTaskSuccessful_task", result=text)}
        for told, text in ENDINGS
    ),
    *({"role": "tool", "match": told, "text": text} for told, text in ENDINGS),
    {"role": "tool", "match": None, "text": "The tool did not give what was expected."},
    *({"match": rf"Observation:\s.*{told}", "text": call("final_answer", answer=text)} for told, text in ENDINGS),
    {"match": f"(?s){SECRET}.*`next_tool_args`", "text": step("finish")},
    {"match": "(?s)read notes.txt.*`next_tool_args`", "text": step("read_file", path="notes.txt")},
    {"match": f"(?s){SECRET}.*`answer`", "text": json.dumps({"reasoning": "It is in the file.", "answer": SECRET})},
    {"match": "Task: .*Anna", "text": call("MarkTaskSuccessful_task", result=PERSON)},
    # Semantic Kernel puts the plugin's name before its functions'.
    *(
        {**turn, "match": f"Plugin P: .*{turn['match']}", "text": turn["text"].replace('"name": "', '"name": "P-')}
        for turn in CALLS
    ),
    *CALLS,
    {"match": "Anna by a call", "text": call("final_result", **PERSON)},
    {"match": "Anna as a Person|You must format", "text": call("Person", **PERSON)},
    {"match": "Anna as a PartialPerson", "text": call("PartialPerson", **PERSON)},
    {"match": "Anna", "text": json.dumps(PERSON)},
    {"match": "two and two", "text": "<think>\nTwo and two are four.\n</think>\n\nFour."},
    {"match": None, "text": "Hello!"},
]
FAILING = {"fails-400": 400, "fails-429": 429, "fails-500": 500, "busy": 503, "dies": 200}
"""Models of an engine that answers with these statuses; `busy` twice, then well; `dies` in the middle of its answer."""


class FailingEngine(ThreadingHTTPServer):
    """An engine that fails in the way its model is named for, and counts how often each was asked."""

    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = str(root)
        self.asked: Counter[str] = Counter()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: FailingEngine

    def do_GET(self) -> None:
        models = [{"id": name, "root": self.server.root, "max_model_len": 100_000} for name in FAILING]
        path, _, name = self.path.partition("/asked/")
        known = {"/v1/models": {"data": models}, "/version": {"version": "1"}, "/health": {}}
        # Asking for a count starts it anew.
        self._send(200, {"asked": self.server.asked.pop(name, 0)} if name else known[path])

    def do_POST(self) -> None:
        name = json.loads(self.rfile.read(int(self.headers["content-length"])))["model"]
        self.server.asked[name] += 1
        status = FAILING[name]
        if status >= 400 and not (name == "busy" and self.server.asked[name] > 2):
            self._send(status, {"error": {"message": f"the engine says {status}", "type": "x", "code": status}})
            return
        choice = {"index": 0, "text": "Half an answer", "finish_reason": None if name == "dies" else "stop"}
        frames = f"data: {json.dumps({'choices': [choice]})}\n\n" + ("" if name == "dies" else "data: [DONE]\n\n")
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        self.wfile.write(frames.encode())

    def _send(self, status: int, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


@contextmanager
def failing_engine(root: Path) -> Iterator[FailingEngine]:
    """The engine, until the block is left."""
    server = FailingEngine(root)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def scripted_gateway(folder: Path, turns: list[dict[str, Any]] | None = None) -> Iterator[tuple[Gateway, FailingEngine]]:
    """A gateway with the model `scripted` and those that fail."""
    with failing_engine(byte_level(folder / "tokenizer")) as engine:
        failing = [
            {"name": name, "backend": "vllm", "urls": [engine.url], "engine_model": name, "chat_template": "toolwire/hermes"}
            for name in FAILING
        ]
        scripted = replay_model(folder, turns or TURNS, aliases=["claude-*"])
        with serving({"models": [scripted, *failing]}) as gateway:
            yield gateway, engine
