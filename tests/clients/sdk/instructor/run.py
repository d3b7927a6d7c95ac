"""instructor: `run.py chat` or `run.py responses`."""

import sys
from typing import Any

import instructor
import openai
import pydantic
from scenarios import (
    AS_PERSON,
    BASE_URL,
    HELLO,
    MODEL,
    PERSON,
    broken_off,
    fails,
    lacks,
    meets_failures,
    run,
    same,
    scenario,
    status_of,
)

CHAT = sys.argv[1] == "chat"
Mode = instructor.Mode
BY_CALL = (Mode.TOOLS, Mode.TOOLS_STRICT) if CHAT else (Mode.RESPONSES_TOOLS,)
AS_JSON = (Mode.JSON, Mode.JSON_SCHEMA) if CHAT else ()


class Person(pydantic.BaseModel):
    """A person."""

    name: str
    age: int


ANNA = {"name": "Anna", "age": 31}


def client(mode: Any = BY_CALL[0]) -> Any:
    return instructor.from_openai(openai.OpenAI(base_url=BASE_URL, api_key="unused", timeout=120), mode=mode)


def asked(text: str, name: str = MODEL) -> dict[str, Any]:
    return {"model": name, "messages": [{"role": "user", "content": text}], "max_retries": 0}


lacks(
    B="it makes one object of a call",
    C="it runs no tools",
    H="it gives objects, and no thinking",
    I="it makes an object of a call",
    **({} if CHAT else {"D": "with responses it asks by a call alone"}),
)
if not CHAT:
    fails(G="it takes half an object for a whole one: of a stream's events it reads no `response.failed`")


@scenario("A")
def partial() -> None:
    *parts, last = client().create_partial(response_model=Person, **asked("Who is Anna as a PartialPerson?"))
    same((len(parts) > 1, last.model_dump()), (True, ANNA))


@scenario("D")
def structured() -> None:
    for mode in AS_JSON:
        same(client(mode).create(response_model=Person, **asked(PERSON)).model_dump(), ANNA)


@scenario("E")
def forced() -> None:
    for mode in BY_CALL:
        same(client(mode).create(response_model=Person, **asked(AS_PERSON)).model_dump(), ANNA)


@scenario("F")
def failures() -> str:
    return meets_failures(lambda name: client().create(response_model=None, **asked(HELLO, name)), status_of)


@scenario("G")
def mid_stream() -> str:
    return broken_off(lambda: list(client().create_partial(response_model=Person, **asked(HELLO, "dies"))))


@scenario("J")
def usage() -> None:
    _, answer = client().create_with_completion(response_model=Person, **asked(AS_PERSON))
    spent = answer.usage
    same((spent.completion_tokens if CHAT else spent.output_tokens) > 10, True)


run()
