"""Models that name one tokenizer or one template share what is made of it, as long as one of them is there."""

import gc
import json
import os
import weakref
from pathlib import Path
from threading import Event, Thread

from gateway.rendering import Renderer
from gateway.rendering.loading import load
from gateway.rendering.sharing import Shared
from tests.support.tokenizers import byte_level

TEMPLATE = "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% endfor %}"
USER = [{"role": "user", "content": "hello"}]


class Thing:
    pass


def test_one_tokenizer_is_loaded_once(tmp_path: Path) -> None:
    folder = str(byte_level(tmp_path / "model", TEMPLATE))
    one, other = Renderer.load(folder), Renderer.load(folder, "toolwire/hermes")
    assert load(folder, None)[1] is load(folder, "toolwire/hermes")[1]
    assert one.encoder is not None
    assert one.encoder is other.encoder
    assert one.template is Renderer.load(folder).template
    assert one.render(USER).text != other.render(USER).text


def test_what_counts_as_a_control_token_is_not_shared_between_templates(tmp_path: Path) -> None:
    folder = byte_level(tmp_path / "model", TEMPLATE)
    path = folder / "tokenizer.json"
    described = json.loads(path.read_text(encoding="utf-8"))
    plain = {"lstrip": False, "rstrip": False, "single_word": False, "normalized": False, "special": False}
    described["added_tokens"].append({"id": 256, "content": "~turn~", **plain})
    path.write_text(json.dumps(described), encoding="utf-8")
    spells = tmp_path / "spells.jinja"
    spells.write_text("~turn~" + TEMPLATE, encoding="utf-8")
    one, other = Renderer.load(str(folder)), Renderer.load(str(folder), str(spells))
    assert one.encoder is not None
    assert other.encoder is not None
    assert (one.encoder.controls, other.encoder.controls) == ((), ("~turn~",))


def test_a_folder_that_changed_is_loaded_again(tmp_path: Path) -> None:
    folder = byte_level(tmp_path / "model", TEMPLATE)
    before = load(str(folder), None)
    changed = folder / "chat_template.jinja"
    changed.write_text(TEMPLATE + "!", encoding="utf-8")
    os.utime(changed, ns=(1, 1))
    assert load(str(folder), None)[0] != before[0]


def test_a_value_is_made_once_at_a_time_and_let_go_of() -> None:
    shared: Shared[Thing] = Shared()
    begun, go_on, made = Event(), Event(), []

    def slow() -> Thing:
        begun.set()
        go_on.wait(10)
        return Thing()

    threads = [Thread(target=lambda: made.append(shared.of("a", slow))) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert begun.wait(10)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert made[0] is made[1]
    assert shared.of("a", Thing) is made[0]
    first = weakref.ref(made[0])
    made.clear()
    gc.collect()
    assert first() is None
    assert isinstance(shared.of("a", Thing), Thing)
