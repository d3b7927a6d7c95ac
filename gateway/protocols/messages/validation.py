"""What is wrong with a body, in Anthropic's words: the place, with dots, and pydantic's own finding."""

from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from gateway.errors import RequestError

M = TypeVar("M", bound=BaseModel)


def validated(model: type[M], body: Any, place: str = "") -> M:
    """The body as this model; RequestError tells the first thing that is wrong with it. `place`: where the body stands."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        finding = error.errors(include_url=False)[0]
        steps = [str(step) for step in finding["loc"] if not (isinstance(step, str) and step.startswith("("))]
        raise wrong(".".join(filter(None, (place, *steps))), finding["msg"]) from None


def wrong(place: str, problem: str) -> RequestError:
    """The error for what stands at a place."""
    return RequestError(f"{place}: {problem}", param=place)


def missing(place: str) -> RequestError:
    """The error for a field that must be there."""
    return wrong(place, "Field required")
