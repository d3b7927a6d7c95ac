"""What the generation prompt holds of the turn itself."""

import pytest

import chat_templates
from gateway.rendering import Renderer, Vocabulary
from gateway.rendering.opening import common_prefix, opening_of

USER = [{"role": "user", "content": "hi"}]
TURN = (
    "{% for m in messages %}<|{{ m.role }}|>THINK{{ m.content }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>OPEN{% endif %}"
)
SWITCH = "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"


def opening(template: str, **options: object) -> str:
    return Renderer(template, Vocabulary({"eos_token": "</s>"})).render(USER, (), options).opening


@pytest.mark.parametrize(
    ("history", "generated", "expected"),
    [
        ("", "", ""),
        ("", "<think>\n", "<think>\n"),
        ("", "<think></think>", "<think></think>"),
        ("</think>", "</think>", "</think>"),  # written before every old answer, yet part of the turn
        ("</think>", "<think>", "<think>"),
        ("<|channel|>final<|message|>", "", ""),
        ("[THINK][/THINK]", "[THINK]", "[THINK]"),
        (">>>all\n", ">>>", ">>>"),  # begins every message of a turn
    ],
)
def test_the_opening_is_what_follows_the_role_header(history: str, generated: str, expected: str) -> None:
    template = TURN.replace("THINK", "{% if m.role == 'assistant' %}" + history + "{% endif %}", 1).replace("OPEN", generated)
    assert opening(template) == expected


def test_the_opening_follows_the_switch() -> None:
    template = TURN.replace("THINK", "").replace("OPEN", SWITCH)
    assert opening(template) == ""
    assert opening(template, enable_thinking=True) == ""
    assert opening(template, enable_thinking=False) == "<think>\n\n</think>\n\n"


def test_a_template_that_ends_with_eos_when_nothing_is_generated() -> None:
    template = TURN.replace("THINK", "").replace("OPEN{% endif %}", "<think>{% else %}<|endoftext|>{% endif %}")
    assert opening(template) == "<think>"


def test_a_header_that_is_unlike_the_one_in_history_is_no_opening() -> None:
    assert opening_of("\n\n<think>", "<|assistant|>") == "\n\n<think>"
    assert opening_of("<|bot|>\n", "<|assistant|>") == ""
    assert opening_of("<|bot|>\n<think>", "<|assistant|>") == "<think>"


def test_a_common_prefix_cuts_no_marker() -> None:
    assert common_prefix("<a><think>", "<a></think>") == "<a>"
    assert common_prefix("text one", "text two") == "text "
    assert common_prefix("[INST]x", "[INFO]x") == ""
    assert common_prefix("same", "same and more") == "same"


@pytest.mark.parametrize(
    ("name", "options", "expected"),
    [
        ("hermes", {}, ""),
        ("hermes", {"enable_thinking": False}, "<think>\n\n</think>\n\n"),
        ("qwen3_coder", {"enable_thinking": True}, "<think>\n"),
        ("deepseek_v31", {}, "</think>"),
        ("deepseek_v31", {"enable_thinking": True}, "<think>"),
        ("deepseek_v32", {}, "</think>"),
        ("deepseek_v32", {"thinking": True}, "<think>"),
        ("mistral", {}, ""),
        ("llama3_json", {}, ""),
    ],
)
def test_our_templates_open(name: str, options: dict[str, object], expected: str) -> None:
    assert opening(chat_templates.load(name), **options) == expected
