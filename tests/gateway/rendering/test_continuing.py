"""Prompts that end in the middle of the assistant's turn."""

import pytest

import chat_templates
from gateway.errors import UnrenderableChat
from gateway.rendering import Renderer
from gateway.rendering.opening import is_thinking
from parsers import Tool
from tests.gateway.rendering.test_injection import QUICK, encoder, renderer

USER = {"role": "user", "content": "Seven times six?"}
ASKS = "{% if add_generation_prompt %}<assistant>{% endif %}"
TRIMS = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}<end>{% endfor %}" + ASKS
SPLITS = (
    "{% for m in messages %}<{{ m.role }}>{% set said = m.content.split('</think>') %}"
    "{% if said | length > 1 %}<think>\n{{ said[0].split('<think>')[-1].strip() }}\n</think>\n\n{% endif %}"
    "{{ said[-1].lstrip() }}<end>{% endfor %}" + ASKS + "{% if add_generation_prompt %}<think>\n{% endif %}"
)
PARTS = TRIMS.replace("m.content | trim", "m.content[0].text")


def said(text: object) -> dict[str, object]:
    return {"role": "assistant", "content": text}


@pytest.mark.parametrize("name", chat_templates.names())
@pytest.mark.parametrize("text", ["The answer is ", " four", "a < b and\n", ""])
def test_our_templates_end_with_the_text_so_far(name: str, text: str) -> None:
    prompt = Renderer.load(None, f"toolwire/{name}").render([USER, said(text)], [Tool("f")], continues=True)
    assert prompt.text.endswith(text.lstrip())
    assert prompt.opening.endswith(text.lstrip())
    assert USER["content"] not in prompt.opening


@pytest.mark.parametrize("content", ["It is ", [{"type": "text", "text": "It is "}]])
def test_a_template_may_trim_and_close_turns(content: object) -> None:
    prompt = Renderer(TRIMS).render([USER, said(content)], continues=True)
    assert prompt.text == "<user>Seven times six?<end><assistant>It is "
    assert prompt.opening == "It is "


def test_a_template_may_want_parts() -> None:
    assert Renderer(PARTS).render([USER, said("It is ")], continues=True).text.endswith("<assistant>It is ")


@pytest.mark.parametrize(
    ("text", "opening"),
    [
        ("<think>\nhm\n</think>\n\nIt is ", "<think>\nhm\n</think>\n\nIt is "),
        ("<think>\nhm, ", "<think>\nhm, "),
        ("It is ", "It is "),
    ],
)
def test_thinking_belongs_to_the_turn(text: str, opening: str) -> None:
    prompt = Renderer(SPLITS).render([USER, said(text)], continues=True)
    assert prompt.text.endswith(opening)
    assert prompt.opening == opening


@pytest.mark.parametrize(
    "template",
    [
        "{% for m in messages %}<{{ m.role }}>{{ m.content | upper }}{% endfor %}",
        "{% for m in messages %}<{{ m.role }}>{{ m.content | tojson(ensure_ascii=True) }}{% endfor %}",
        "{% for m in messages if m.role == 'user' %}{{ m.content }}{% endfor %}",
        "{% if messages[-1].role != 'user' %}{{ raise_exception('no prefill') }}{% endif %}{{ messages[-1].content }}",
    ],
    ids=["changes it", "escapes it", "drops it", "refuses it"],
)
def test_a_template_that_cannot_is_told(template: str) -> None:
    with pytest.raises(UnrenderableChat, match=r"cannot continue messages\[1\]: .*Let the conversation end") as refused:
        Renderer(template).render([USER, said("It is ")], continues=True)
    assert refused.value.status == 400


@pytest.mark.parametrize("name", QUICK)
def test_control_tokens_in_it_stay_text(name: str) -> None:
    own = encoder(name)
    spelled = [text for text in own.controls if not is_thinking(text)][:200]
    attack = "It is " + " ".join(spelled)
    forged, harmless = (renderer(name).render([USER, said(text)], continues=True) for text in (attack, "It is x \ue000\ue004"))

    def controls(ids: tuple[int, ...] | None) -> list[int]:
        return [number for number in ids or () if own.is_control(number)]

    assert controls(forged.token_ids) == controls(harmless.token_ids)
    assert forged.text.endswith(attack)
    assert not any(text in forged.opening for text in spelled if len(text) > 2)


@pytest.mark.parametrize("name", QUICK)
def test_the_ids_are_those_of_the_text(name: str) -> None:
    prompt = renderer(name).render([USER, said("The answer is ")], continues=True)
    found = encoder(name)
    assert prompt.token_ids == found.encode(prompt.text, found.shield())
