"""Which of a client's template options reach the template: those it reads, under the name it reads them by."""

from collections.abc import Mapping
from typing import Any

_OWN = frozenset({"messages", "tools", "add_generation_prompt", "bos_token", "eos_token", "unk_token", "pad_token"})
THINKING_SWITCHES = ("enable_thinking", "thinking")


def forwarded(options: Mapping[str, Any], reads: frozenset[str]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """The options to render with, and a warning for each that has no effect."""
    passed: dict[str, Any] = {}
    warnings: list[str] = []
    for name, value in options.items():
        if name in _OWN:
            warnings.append(f"chat_template_kwargs.{name} is the gateway's own and was ignored.")
        elif name in reads:
            passed[name] = value
        elif (switch := _thinking_switch(name, reads)) is not None:
            passed.setdefault(switch, value if name in THINKING_SWITCHES else value not in ("none", None))
        else:
            warnings.append(f"The chat template does not read {name}; it was ignored.")
    return passed, tuple(warnings)


def _thinking_switch(name: str, reads: frozenset[str]) -> str | None:
    if name not in (*THINKING_SWITCHES, "reasoning_effort"):
        return None
    return next((switch for switch in THINKING_SWITCHES if switch in reads), None)
