"""The embedded engine with the real default model."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from gateway.backends.embedded import EmbeddedBackend
from gateway.chat.plan import Constraint
from gateway.errors import (
    BackendRefused,
    BackendUnavailable,
    ContextTooLong,
    ResponseSchemaInvalid,
    SettingsError,
    ToolSchemaInvalid,
)


def chat(question: str) -> str:
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"


FRANCE = chat("What is the capital of France?")
STORY = chat("Write a long story about a fox.")
ATTEMPTS = 4
"""So often may times be compared: a machine with much else to do gives its time unevenly."""
SCHEMA = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "maxLength": 20},
        "unit": {"enum": ["celsius", "kelvin"]},
        "days": {"type": "integer"},
    },
    "required": ["city", "unit"],
    "additionalProperties": False,
}


def test_answers_with_real_usage_and_without_the_end_of_turn(smol, run, kit):
    pieces = run(kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=40)))
    assert kit.text_of(pieces) == "The capital of France is Paris."
    assert [piece.finish_reason for piece in pieces if piece.finish_reason] == ["stop"]
    usage = pieces[-1].usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (16, 8)


def test_token_ids_and_text_are_the_same_prompt(smol, run, kit):
    ids = (1, 4093, 198, 1780, 314, 260, 3575, 282, 4649, 47, 2, 198, 1, 520, 9531, 198)
    plan = kit.plan("not read", ids=ids, temperature=0, max_tokens=40)
    pieces = run(kit.read_all(smol, plan))
    assert kit.text_of(pieces) == "The capital of France is Paris."
    assert pieces[-1].usage.prompt_tokens == 16


@pytest.mark.parametrize("text", [FRANCE, "<|im_start|>" + FRANCE, "bare 東京"])
def test_tokens_are_counted_as_a_generation_would(smol, run, kit, text):
    pieces = run(kit.read_all(smol, kit.plan(text, max_tokens=1)))
    assert run(smol.count_tokens(text)) == pieces[-1].usage.prompt_tokens


def test_max_tokens_ends_with_length(smol, run, kit):
    pieces = run(kit.read_all(smol, kit.plan(STORY, temperature=0, max_tokens=5)))
    assert [piece.finish_reason for piece in pieces if piece.finish_reason] == ["length"]
    assert pieces[-1].usage.completion_tokens == 5


@pytest.mark.parametrize("stops", [(" is",), ("never", "al of", " is", "capital of France is")])
def test_a_stop_text_ends_the_answer_is_told_and_is_not_part_of_it(smol, run, kit, stops):
    pieces = run(kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=40, stop=stops)))
    stop = stops[len(stops) // 3]
    assert kit.text_of(pieces) == "The capital of France".partition(stop)[0]
    assert [(piece.finish_reason, piece.stop) for piece in pieces if piece.finish_reason] == [("stop", stop)]


@pytest.mark.parametrize("wishes", [{"max_tokens": 3}, {"max_tokens": 40}, {"max_tokens": 40, "stop_token_texts": ("Paris",)}])
def test_only_a_stop_text_of_the_request_is_told(smol, run, kit, wishes):
    pieces = run(kit.read_all(smol, kit.plan(FRANCE, temperature=0, stop=("never",), **wishes)))
    assert [piece.stop for piece in pieces] == [None] * len(pieces)


def test_an_end_of_turn_that_the_vocabulary_lacks_stops_as_text(smol, run, kit):
    plan = kit.plan(FRANCE, temperature=0, max_tokens=40, stop_token_texts=("<|im_end|>", "Paris"))
    assert kit.text_of(run(kit.read_all(smol, plan))) == "The capital of France is "


def test_a_held_beginning_of_a_stop_text_is_not_lost_at_the_end_of_turn(smol, run, kit):
    pieces = run(kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=40, stop=(".never",))))
    assert kit.text_of(pieces) == "The capital of France is Paris."


def test_same_seed_same_text_and_another_seed_another(smol, run, kit):
    def text(seed):
        return kit.text_of(run(kit.read_all(smol, kit.plan(STORY, temperature=1.5, seed=seed, max_tokens=12))))

    assert text(7) == text(7)
    assert len({text(7), text(8), text(9)}) > 1


def test_choices_come_side_by_side_and_count_the_prompt_once(smol, run, kit):
    pieces = run(kit.read_all(smol, kit.plan(FRANCE, temperature=1.5, seed=1, n=3, max_tokens=6)))
    assert sorted(piece.choice for piece in pieces if piece.finish_reason) == [0, 1, 2]
    assert len({kit.text_of(pieces, choice) for choice in range(3)}) > 1
    usages = [piece.usage for piece in pieces if piece.usage]
    assert len(usages) == 1
    assert usages[0].prompt_tokens == 16
    assert usages[0].completion_tokens <= 18


def test_log_probabilities_of_each_token(smol, run, kit):
    pieces = run(kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=40, top_logprobs=2)))
    entries = [entry for piece in pieces for entry in piece.logprobs or ()]
    assert "".join(entry.token for entry in entries) == "The capital of France is Paris."
    assert all(len(entry.top) == 2 and entry.logprob <= 0 for entry in entries)
    chosen = run(kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=2, top_logprobs=0)))
    assert [len(entry.top) for piece in chosen for entry in piece.logprobs or ()] == [0, 0]


def test_logit_bias_and_engine_extras_reach_the_sampler(smol, run, kit):
    biased = run(kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=3, logit_bias={"2": 100.0})))
    assert kit.text_of(biased) == ""
    plain = kit.plan(STORY, temperature=5.0, max_tokens=8, engine_extras={"top_k": 1})
    assert kit.text_of(run(kit.read_all(smol, plain))) == kit.text_of(
        run(kit.read_all(smol, kit.plan(STORY, temperature=0, max_tokens=8)))
    )


@pytest.mark.parametrize("seed", range(4))
def test_a_lark_constraint_forces_a_call_in_the_spacing_of_json_dumps(smol, run, kit, seed):
    schema = {**SCHEMA, "x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}}
    lark = (
        'start: "<tool_call>\\n{\\"name\\": \\"get_weather\\", \\"arguments\\": " args "}\\n</tool_call>"\n'
        f"args: %json {json.dumps(schema)}\n"
    )
    plan = kit.plan(
        chat("Tell me a joke."),
        temperature=1.5,
        seed=seed,
        max_tokens=120,
        constraint=Constraint("lark", lark),
        stop=("<|im_end|>",),
    )
    text = kit.text_of(run(kit.read_all(smol, plan)))
    assert text.startswith('<tool_call>\n{"name": "get_weather", "arguments": {"city": "')
    assert text.endswith("}\n</tool_call>")
    call = json.loads(text.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>"))
    assert call["arguments"]["unit"] in ("celsius", "kelvin")
    assert json.dumps(call, ensure_ascii=False) == text.removeprefix("<tool_call>\n").removesuffix("\n</tool_call>")


def test_a_literal_that_spells_a_control_token_stays_enforced(smol, run, kit):
    lark = 'start: "<file_sep>" NAME "<|im_start|>" "x"\nNAME: /[a-z]{3}/\n'
    text = kit.text_of(
        run(kit.read_all(smol, kit.plan(FRANCE, temperature=1, max_tokens=30, constraint=Constraint("lark", lark))))
    )
    assert text.startswith("<file_sep>")
    assert text.endswith("<|im_start|>x")
    assert len(text) == len("<file_sep>abc<|im_start|>x")


def test_json_constraints_of_a_response_format(smol, run, kit):
    plan = kit.plan(FRANCE, temperature=1, max_tokens=120, constraint=Constraint("json_schema", SCHEMA))
    assert set(json.loads(kit.text_of(run(kit.read_all(smol, plan))))) <= {"city", "unit", "days"}
    plan = kit.plan(chat("A person as JSON"), temperature=0, max_tokens=200, constraint=Constraint("json_object", None))
    assert kit.text_of(run(kit.read_all(smol, plan))).startswith("{")


@pytest.mark.parametrize(
    ("constraint", "error"),
    [
        (Constraint("lark", "start: nowhere ]"), ToolSchemaInvalid),
        (Constraint("json_schema", {"type": "strange"}), ResponseSchemaInvalid),
    ],
)
def test_a_constraint_that_cannot_be_built_is_refused_not_dropped(smol, run, kit, constraint, error):
    with pytest.raises(error):
        run(kit.read_all(smol, kit.plan(FRANCE, max_tokens=5, constraint=constraint)))


def test_a_prompt_longer_than_the_context_is_refused_with_both_numbers(smol, run, kit):
    with pytest.raises(ContextTooLong, match=r"2048 tokens.*6001 tokens") as caught:
        run(kit.read_all(smol, kit.plan("hello world " * 3000, max_tokens=5)))
    assert caught.value.status == 400


def test_a_request_the_engine_refuses_keeps_its_status(smol, run, kit):
    with pytest.raises(BackendRefused, match="invalid tokens") as caught:
        run(kit.read_all(smol, kit.plan("x", ids=(1, 999_999), max_tokens=5)))
    assert caught.value.status == 400


def test_two_streams_run_at_the_same_time(smol, run, kit):
    async def moments(question):
        seen = []
        async with smol.stream(kit.plan(chat(question), temperature=0, max_tokens=40)) as batches:
            async for _ in batches:
                seen.append(time.monotonic())
        return seen

    async def both():
        return await asyncio.gather(moments("Tell me about the sea."), moments("Tell me about the moon."))

    one, two = run(both())
    assert one[0] < two[-1]
    assert two[0] < one[-1]


def test_the_loop_stays_free_while_the_engine_works(smol, run, kit):
    async def longest_pause():
        began = last = time.monotonic()
        work = asyncio.create_task(kit.read_all(smol, kit.plan(STORY, temperature=0, max_tokens=60)))
        worst = 0.0
        while not work.done():
            await asyncio.sleep(0.005)
            worst, last = max(worst, time.monotonic() - last), time.monotonic()
        return worst / (last - began)

    assert any(run(longest_pause()) < 0.3 for _ in range(ATTEMPTS)), "the loop stands still for most of the engine's work"


async def _enter_and_leave(backend: EmbeddedBackend, plan: Any) -> None:
    async with backend.stream(plan) as batches:
        async for _ in batches:
            break


def test_leaving_a_stream_frees_its_slot_at_once(smol, run, kit):
    """Sooner than a hundred tokens more could be made; the answers that were left would have had some 1,900 each."""

    async def a_hundred_tokens():
        began = time.monotonic()
        await kit.read_all(smol, kit.plan(STORY, temperature=0, max_tokens=100, logit_bias={"2": -100.0, "0": -100.0}))
        return time.monotonic() - began

    async def leave_then_ask():
        for _ in range(2):  # both slots, with answers that would fill the whole context
            await _enter_and_leave(smol, kit.plan(STORY, temperature=0, logit_bias={"2": -100.0, "0": -100.0}))
        began = time.monotonic()
        await kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=1))
        return time.monotonic() - began

    assert any(run(leave_then_ask()) < run(a_hundred_tokens()) for _ in range(ATTEMPTS))


def test_a_long_prompt_is_given_up_while_it_is_still_read(smol, run, kit):
    """Prompts of 3,700 tokens cost less than five times what one of 250 costs on this machine now."""

    async def leave_then_ask(attempt):
        began = time.monotonic()
        for prompt in ("a long prompt about nothing " * 380, "one more long prompt with nothing " * 300):
            async with smol.stream(kit.plan(f"{attempt} {prompt}", max_tokens=1)):
                pass  # entered when the engine took it: its work on the prompt, many seconds, has just begun
        await kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=1))
        return time.monotonic() - began

    async def short(attempt):
        began = time.monotonic()
        await kit.read_all(smol, kit.plan(f"{attempt} " + "something else that is short " * 50, max_tokens=1))
        return time.monotonic() - began

    assert any(run(leave_then_ask(attempt)) < 5 * run(short(attempt)) for attempt in range(ATTEMPTS))


def test_a_request_that_waits_for_a_slot_can_be_given_up(smol, run, kit):
    async def story():
        await kit.read_all(smol, kit.plan(STORY, temperature=0, max_tokens=60))

    async def give_up():
        running = [asyncio.create_task(story()) for _ in range(2)]
        await asyncio.sleep(0.1)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await kit.read_all(smol, kit.plan(FRANCE, max_tokens=1))
        await asyncio.gather(*running)
        return await kit.read_all(smol, kit.plan(FRANCE, temperature=0, max_tokens=1))

    assert kit.text_of(run(give_up())) == "The"


def test_facts_come_from_the_file(smol, run):
    facts = run(smol.facts())
    assert (facts.engine, facts.model, facts.max_model_len) == ("llama.cpp", "Smollm2 135M 8k Lc100K Mix1 Ep2", 2048)
    assert run(smol.healthy())


def test_closing_ends_what_runs_and_refuses_what_comes(run, kit, smol):
    async def close_in_the_middle():
        backend = EmbeddedBackend(smol.model.path, context=1024, threads=1, parallel=1)
        waiting = asyncio.create_task(kit.read_all(backend, kit.plan(STORY, temperature=0)))
        await asyncio.sleep(0.3)
        queued = asyncio.create_task(kit.read_all(backend, kit.plan(STORY, temperature=0)))
        await asyncio.sleep(0.05)
        await backend.close()
        results = await asyncio.gather(waiting, queued, return_exceptions=True)
        with pytest.raises(BackendUnavailable):
            await kit.read_all(backend, kit.plan(STORY))
        return results, await backend.healthy()

    results, healthy = run(close_in_the_middle())
    assert [type(result).__name__ for result in results] == ["BackendUnavailable", "BackendUnavailable"]
    assert not healthy


def test_a_file_that_is_no_model_says_what_to_do(tmp_path: Path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + b"\x03\0\0\0" + b"\0" * 16)
    with pytest.raises(SettingsError, match="cannot load this model"):
        EmbeddedBackend(broken)
