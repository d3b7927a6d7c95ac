"""The vLLM backend against a real socket that plays what a vLLM 0.32 was recorded to send."""

import asyncio
import json
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import Any

import pytest

from gateway.backends.http import Timeouts
from gateway.backends.vllm import VllmBackend
from gateway.chat.events import TokenLogprob, Usage
from gateway.chat.plan import Constraint
from gateway.errors import (
    BackendBusy,
    BackendError,
    BackendGarbled,
    BackendOverloaded,
    BackendRefused,
    BackendTimeout,
    BackendUnavailable,
    ContextTooLong,
    GatewayError,
)
from gateway.middleware.caller import Caller, caller
from gateway.settings import ApiKey, hash_of
from tests.support.server import PATIENCE

MODELS = {"object": "list", "data": [{"id": "served", "object": "model", "root": "/models/served", "max_model_len": 100}]}


def choice(text: str = "", *, index: int = 0, finish: str | None = None, **more: Any) -> dict[str, Any]:
    return {
        "index": index,
        "text": text,
        "logprobs": None,
        "finish_reason": finish,
        "stop_reason": None,
        "token_ids": None,
        **more,
    }


def chunk(*choices: dict[str, Any], **more: Any) -> bytes:
    head = {"id": "cmpl-1", "object": "text_completion", "created": 1, "model": "served"}
    return b"data: " + json.dumps({**head, "choices": list(choices), **more}).encode() + b"\n\n"


USAGE = chunk(
    usage={"prompt_tokens": 9, "total_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": {"cached_tokens": 4}}
)
DONE = b"data: [DONE]\n\n"
HELLO = [chunk(choice("Hel")), chunk(choice("lo", finish="stop")), USAGE, DONE]


class Engine:
    """A HTTP/1.1 server that answers with a script and remembers what it was asked."""

    def __init__(self, blocks: list[bytes], *, status: int = 200, pause: float = 0.0, cut_short: bool = False) -> None:
        self.blocks, self.status, self.pause, self.cut_short = blocks, status, pause, cut_short
        self.headers = b""
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.connections = 0
        self.left = asyncio.Event()
        self.url = ""
        self.models: dict[str, Any] = MODELS

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                first, *lines = head.decode().strip().split("\r\n")
                headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
                body = await reader.readexactly(int(headers.get("content-length", 0)))
                path = first.split()[1]
                self.asked.append((path, headers, json.loads(body) if body else None))
                await self.answer(path, reader, writer)
                if self.cut_short and path == "/v1/completions":
                    break
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()

    async def answer(self, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if path != "/v1/completions":
            known = {"/v1/models": self.models, "/version": {"version": "0.32.0"}, "/health": {}, "/tokenize": {"count": 30}}
            body = json.dumps(known[path]).encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%s" % (len(body), body))
            return
        kind = b"content-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
        writer.write(b"HTTP/1.1 %d X\r\n%s%s\r\n" % (self.status, kind, self.headers))
        gone = asyncio.create_task(reader.read(1)) if self.pause else None
        for block in self.blocks:
            writer.write(b"%x\r\n%s\r\n" % (len(block), block))
            await writer.drain()
            if gone is not None:
                await asyncio.wait([gone], timeout=self.pause)
                if gone.done():
                    raise ConnectionError
        if not self.cut_short:
            await asyncio.sleep(0.02)  # the end of a body comes in a packet of its own
            writer.write(b"0\r\n\r\n")
        if gone is not None:
            gone.cancel()

    def body(self) -> Any:
        return [body for path, _, body in self.asked if path == "/v1/completions"][-1]


@asynccontextmanager
async def playing(engine: Engine, **settings: Any) -> AsyncGenerator[VllmBackend]:
    server = await asyncio.start_server(engine.serve, "127.0.0.1", 0)
    engine.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    backend = VllmBackend(url=engine.url, **settings)
    try:
        yield backend
    finally:
        await backend.close()
        server.close()


def answer_of(run, kit, engine, plan, **settings):
    async def ask():
        async with playing(engine, **settings) as backend:
            return await kit.read_all(backend, plan)

    return run(ask())


def error_of(run, kit, engine, plan=None, **settings) -> GatewayError:
    with pytest.raises(GatewayError) as caught:
        answer_of(run, kit, engine, plan or kit.plan(ids=(1, 2), max_tokens=5), **settings)
    return caught.value


def test_text_finish_and_usage(run, kit):
    pieces = answer_of(run, kit, Engine(HELLO), kit.plan(ids=(1, 2, 3), max_tokens=5))
    assert kit.text_of(pieces) == "Hello"
    assert [piece.finish_reason for piece in pieces] == [None, "stop", None]
    assert pieces[-1].usage == Usage(9, 3, 4)


@pytest.mark.parametrize(("reason", "told"), [("END", "END"), (151645, None), (None, None)])
def test_the_stop_text_that_ended_an_answer_is_told(run, kit, reason, told):
    blocks = [chunk(choice("Hello", finish="stop", stop_reason=reason)), USAGE, DONE]
    pieces = answer_of(run, kit, Engine(blocks), kit.plan(ids=(1,), max_tokens=5, stop=("END",)))
    assert [piece.stop for piece in pieces] == [told, None]


def test_tokens_of_a_text_are_counted_by_the_engine(run, kit):
    async def count():
        async with playing(Engine([])) as backend:
            return await backend.count_tokens("text that /tokenize counts")

    assert run(count()) == 30


def test_what_arrives_together_is_one_list(run, kit):
    async def batches():
        async with playing(Engine([b"".join(HELLO)])) as backend, backend.stream(kit.plan(ids=(1,), max_tokens=5)) as items:
            return [len(batch) async for batch in items]

    assert run(batches()) == [3]


def test_the_request_as_vllm_wants_it(run, kit):
    engine = Engine(HELLO)
    plan = kit.plan(
        ids=(1, 2), max_tokens=7, temperature=0.5, seed=3, stop=("END",), logit_bias={"5": 1.0}, engine_extras={"top_k": 4},
        constraint=Constraint("structural_tag", {"type": "structural_tag", "format": {"b": 1, "a": "é"}}),
    )  # fmt: skip
    answer_of(run, kit, engine, plan, model="mine", api_key="secret")
    assert engine.asked[-1][1]["authorization"] == "Bearer secret"
    assert engine.body() == {
        "top_k": 4, "model": "mine", "prompt": [1, 2], "stream": True, "stream_options": {"include_usage": True}, "n": 1,
        "max_tokens": 7, "temperature": 0.5, "seed": 3, "stop": ["END"], "logit_bias": {"5": 1.0},
        "skip_special_tokens": False, "spaces_between_special_tokens": False,
        "structured_outputs": {"structural_tag": '{"type":"structural_tag","format":{"b":1,"a":"é"}}'},
    }  # fmt: skip


@pytest.mark.parametrize(
    ("constraint", "wire"),
    [
        (Constraint("json_schema", {"type": "object"}), {"json": {"type": "object"}}),
        (Constraint("json_object", None), {"json_object": True}),
        (Constraint("lark", 'start: "a"'), {"grammar": 'start: "a"'}),
    ],
)
def test_other_constraints(run, kit, constraint, wire):
    engine = Engine(HELLO)
    answer_of(run, kit, engine, kit.plan(ids=(1,), max_tokens=5, constraint=constraint))
    assert engine.body()["structured_outputs"] == wire


def test_a_text_prompt_brings_its_own_special_tokens(run, kit):
    engine = Engine(HELLO)
    answer_of(run, kit, engine, kit.plan("<s>Hi", max_tokens=5))
    assert (engine.body()["prompt"], engine.body()["add_special_tokens"]) == ("<s>Hi", False)


@pytest.mark.parametrize(("ids", "room"), [((1,) * 40, 60), (None, 70)])
def test_without_max_tokens_the_answer_may_fill_the_context(run, kit, ids, room):
    engine = Engine(HELLO)
    answer_of(run, kit, engine, kit.plan("text that /tokenize counts", ids=ids))
    assert engine.body()["max_tokens"] == room
    assert engine.body()["model"] == "served"


def test_without_max_tokens_a_full_context_is_refused(run, kit):
    error = error_of(run, kit, Engine(HELLO), kit.plan(ids=(1,) * 100))
    assert isinstance(error, ContextTooLong)
    assert "100 tokens" in error.message


def test_choices_are_told_apart(run, kit):
    blocks = [
        chunk(choice("a", index=1), choice("b")),
        chunk(choice("c", index=1, finish="length"), choice("d", finish="stop")),
        USAGE,
        DONE,
    ]
    pieces = answer_of(run, kit, Engine(blocks), kit.plan(ids=(1,), max_tokens=5, n=2))
    assert [kit.text_of(pieces, index) for index in (0, 1)] == ["bd", "ac"]
    assert {piece.choice: piece.finish_reason for piece in pieces if piece.finish_reason} == {1: "length", 0: "stop"}


def test_greedy_choices_are_one_answer_given_several_times(run, kit):
    engine = Engine(HELLO)
    pieces = answer_of(run, kit, engine, kit.plan(ids=(1,), max_tokens=5, n=3, temperature=0))
    assert engine.body()["n"] == 1  # vLLM refuses more at temperature 0
    assert [kit.text_of(pieces, index) for index in range(3)] == ["Hello"] * 3
    assert sorted(piece.choice for piece in pieces if piece.finish_reason) == [0, 1, 2]
    assert [piece.usage for piece in pieces if piece.usage] == [Usage(9, 9, 4)]


def test_log_probabilities_in_the_legacy_shape(run, kit):
    wire = {
        "tokens": ["Hel", "lo"],
        "token_logprobs": [-0.5, None],
        "top_logprobs": [{"Hel": -0.5, "He": -1.5, "Hey": -0.1}, None],
        "text_offset": [0, 3],
    }
    blocks = [chunk(choice("Hello", finish="stop", logprobs=wire)), DONE]
    engine = Engine(blocks)
    pieces = answer_of(run, kit, engine, kit.plan(ids=(1,), max_tokens=5, top_logprobs=2))
    assert engine.body()["logprobs"] == 2
    assert pieces[0].logprobs == [TokenLogprob("Hel", -0.5, [("Hey", -0.1), ("Hel", -0.5)]), TokenLogprob("lo", 0.0, [])]


CONTEXT = (
    "This model's maximum context length is 100 tokens. However, your prompt contains 101 input tokens, which exceeds this limit "
    "even without any output tokens. Please reduce the length of the input prompt."
)


@pytest.mark.parametrize(
    ("status", "body", "kind", "seen"),
    [
        (400, {"error": {"message": "bad bias", "type": "BadRequestError", "param": None, "code": 400}}, BackendRefused, 400),
        (400, {"error": {"message": CONTEXT, "type": "BadRequestError", "param": None, "code": 400}}, ContextTooLong, 400),
        (422, {"detail": [{"loc": ["n"]}]}, BackendRefused, 422),
        (404, {"error": {"message": "The model `x` does not exist."}}, BackendRefused, 502),
        (401, {"error": "Unauthorized"}, BackendRefused, 502),
        (500, {"error": {"message": "Internal server error"}}, BackendError, 502),
        (503, {"error": {"message": "overloaded"}}, BackendOverloaded, 503),
    ],
)
def test_an_engine_that_refuses(run, kit, status, body, kind, seen):
    error = error_of(run, kit, Engine([json.dumps(body).encode()], status=status))
    assert type(error) is kind
    assert error.status == seen
    told = body.get("error", body.get("detail"))
    told = told["message"] if isinstance(told, dict) else told
    assert (told if isinstance(told, str) else json.dumps(told)) in error.message


@pytest.mark.parametrize(
    ("headers", "least", "most"),
    [
        (b"Retry-After: 7\r\n", 7, 7),
        (b"retry-after-ms: 1500\r\nretry-after: 9\r\n", 1.5, 1.5),
        (b"retry-after: %s\r\n" % formatdate(time.time() + 3600, usegmt=True).encode(), 3000, 3601),
        (b"retry-after: yesterday\r\n", 1, 1),
        (b"", 1, 1),
    ],
    ids=["seconds", "milliseconds", "date", "rubbish", "none"],  # a date in a name would differ between processes
)
def test_an_engine_that_is_busy_says_for_how_long(run, kit, headers, least, most):
    engine = Engine([b'{"error": {"message": "queue is full", "code": 429}}'], status=429)
    engine.headers = headers
    error = error_of(run, kit, engine)
    assert isinstance(error, BackendBusy)
    assert (error.status, error.code, error.retryable) == (429, "rate_limit_exceeded", True)
    assert least <= error.retry_after <= most
    assert "queue is full" in error.message


def test_a_refusal_comes_before_the_stream_is_entered(run, kit):
    async def enter():
        async with playing(Engine([b"{}"], status=500)) as backend:
            with pytest.raises(BackendError):
                await backend.stream(kit.plan(ids=(1,), max_tokens=5)).__aenter__()

    run(enter())


def test_an_error_inside_a_200_stream(run, kit):
    error = (
        b'data: {"error": {"message": "Internal server error", "type": "InternalServerError", "param": null, "code": 500}}\n\n'
    )
    found = error_of(run, kit, Engine([chunk(choice("Hel")), error, DONE]))
    assert type(found) is BackendError
    assert "Internal server error" in found.message


def test_a_request_refused_inside_a_200_stream(run, kit):
    error = b'data: {"error": {"message": "no token 9 in logit_bias", "param": "logit_bias", "code": 400}}\n\n'
    found = error_of(run, kit, Engine([error, DONE]))
    assert type(found) is BackendRefused
    assert (found.status, found.type, found.param) == (400, "invalid_request_error", "logit_bias")
    assert found.message == "no token 9 in logit_bias"


@pytest.mark.parametrize(
    "blocks",
    [
        [chunk(choice("Hel"))],
        [chunk(choice("Hel")), DONE],
        [chunk(choice("Hel", finish="abort")), DONE],
        [b"data: {not json\n\n", DONE],
        [b"data: [1]\n\n", DONE],
        [chunk(choice("a", index=4, finish="stop")), DONE],
        [chunk(choice("a", finish="stop")), chunk(choice("b")), DONE],
        [b'data: {"choices": [{"index": 0, "text": "\xff"}]}\n\n', DONE],
    ],
)
def test_a_stream_that_cannot_be_trusted_is_garbled(run, kit, blocks):
    assert type(error_of(run, kit, Engine(blocks))) is BackendGarbled


def test_a_connection_that_breaks_in_the_middle(run, kit):
    assert type(error_of(run, kit, Engine([chunk(choice("Hel"))], cut_short=True))) is BackendUnavailable


def test_an_engine_that_is_not_there(run, kit):
    async def ask():
        server = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        server.close()
        await server.wait_closed()
        backend = VllmBackend(url=f"http://127.0.0.1:{port}")
        try:
            assert not await backend.healthy()
            for question in (backend.facts(), kit.read_all(backend, kit.plan(ids=(1,), max_tokens=5))):
                with pytest.raises(BackendUnavailable, match="cannot be reached"):
                    await question
        finally:
            await backend.close()

    run(ask())


def test_an_engine_that_falls_silent(run, kit):
    error = error_of(run, kit, Engine(HELLO, pause=1.0), timeouts=Timeouts(read=0.2))
    assert type(error) is BackendTimeout
    assert error.status == 504


def test_leaving_the_stream_closes_the_connection(run, kit):
    async def leave():
        engine = Engine([chunk(choice("x"))] * 20_000, pause=0.01)
        async with playing(engine) as backend:
            async with backend.stream(kit.plan(ids=(1,), max_tokens=5)) as batches:
                async for _ in batches:
                    break
            await asyncio.wait_for(engine.left.wait(), PATIENCE)

    run(leave())


def test_being_cancelled_while_the_engine_thinks_closes_the_connection(run, kit):
    async def leave():
        engine = Engine([chunk(choice("x")), chunk(choice("x"))], pause=300)
        async with playing(engine) as backend:
            asking = asyncio.create_task(kit.read_all(backend, kit.plan(ids=(1,), max_tokens=5)))
            while not engine.asked:  # noqa: ASYNC110  # the engine tells it when asked
                await asyncio.sleep(0.01)
            await asyncio.sleep(0.2)
            asking.cancel()
            await asyncio.wait_for(engine.left.wait(), PATIENCE)

    run(leave())


def test_connections_are_used_again(run, kit):
    async def ask_often():
        engine = Engine(HELLO)
        async with playing(engine) as backend:
            for _ in range(5):
                await kit.read_all(backend, kit.plan(ids=(1,), max_tokens=5))
            return engine.connections

    # the first question of all asks for the model's name, on the control connection
    assert run(ask_often()) == 2


def test_an_engine_that_comes_back_with_another_model_is_asked_again(run, kit):
    async def ask():
        engine = Engine(HELLO)
        async with playing(engine) as backend:
            plan = kit.plan(ids=(1,), max_tokens=5)
            await kit.read_all(backend, plan)
            engine.models = {"data": [{"id": "other"}]}
            engine.status = 404
            with pytest.raises(BackendRefused):
                await kit.read_all(backend, plan)
            engine.status = 200
            await kit.read_all(backend, plan)
            return [body["model"] for path, _, body in engine.asked if path == "/v1/completions"]

    assert run(ask()) == ["served", "served", "other"]


def test_facts_and_health(run, kit):
    async def ask():
        async with playing(Engine([])) as backend:
            return await backend.facts(), await backend.healthy()

    facts, healthy = run(ask())
    assert (facts.engine, facts.model, facts.max_model_len, facts.version) == ("vllm", "served", 100, "0.32.0")
    assert facts.root == "/models/served"
    assert healthy


def test_a_password_in_an_address_is_told_to_nobody(run):
    async def ask():
        backend = VllmBackend(url="http://name:secret@127.0.0.1:9/v1")
        with pytest.raises(BackendUnavailable) as refused:
            await backend.facts()
        await backend.close()
        return backend.place, refused.value.message

    place, message = run(ask())
    assert place == "http://127.0.0.1:9"
    assert "secret" not in message


def salt_of(run, kit, key: str | None, extras: dict[str, Any], *, shared: bool = False) -> str | None:
    """What the engine is told to salt its cache with."""
    engine = Engine(HELLO)
    plan = kit.plan(ids=(1, 2), max_tokens=5, engine_extras=extras)

    async def ask() -> None:
        caller.set(None if key is None else Caller(ApiKey(name=key, hash=hash_of(key))))
        async with playing(engine) as backend:
            backend.shares_prefixes = shared
            await kit.read_all(backend, plan)

    run(ask())
    salt: str | None = engine.body().get("cache_salt")
    return salt


def test_prompts_of_different_keys_share_no_cache(run, kit) -> None:
    alice, bob = (salt_of(run, kit, key, {}) for key in ("alice", "bob"))
    assert alice
    assert bob
    assert alice != bob
    assert alice == salt_of(run, kit, "alice", {})
    assert "alice" not in alice
    assert hash_of("alice") not in alice


def test_a_client_that_salts_its_cache_itself_keeps_it_apart_from_its_own_too(run, kit) -> None:
    salted = salt_of(run, kit, "alice", {"cache_salt": "x"})
    assert salted not in (None, "x", salt_of(run, kit, "alice", {}), salt_of(run, kit, "bob", {"cache_salt": "x"}))


@pytest.mark.parametrize("key", [None, "alice"])
def test_where_nothing_is_kept_apart_the_clients_word_counts(run, kit, key: str | None) -> None:
    assert salt_of(run, kit, key, {}, shared=True) is None
    assert salt_of(run, kit, key, {"cache_salt": "x"}, shared=True) == "x"
    assert salt_of(run, kit, None, {"cache_salt": "x"}) == "x"
