"""Chat templates of our own, for models whose own template is missing, ignores tools or loses part of a conversation."""

from importlib.resources import files

__all__ = ["UnknownTemplate", "load", "names"]


class UnknownTemplate(KeyError):
    """No template of ours has this name; the message lists those that exist."""

    def __str__(self) -> str:  # KeyError would show the repr
        return str(self.args[0]) if self.args else ""


def names() -> tuple[str, ...]:
    """What `load` takes, sorted."""
    found = (entry.name for entry in files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".jinja") for name in found if name.endswith(".jinja")))


def load(name: str) -> str:
    """The template's source. `name` is one of `names()`, with or without `.jinja`."""
    stem = name.removesuffix(".jinja")
    if stem not in names():
        raise UnknownTemplate(f"There is no chat template {name!r}; there are: {', '.join(names())}.")
    return files(__name__).joinpath(f"{stem}.jinja").read_text(encoding="utf-8")
