"""Whether the replicas of a model serve the same model: what the first one says, all others must say too."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from gateway.backends.base import EngineFacts, Finding


class Agreement:
    """`model`: the name that every replica must serve it under. `by_root`: also the folder must be the same, because the
    tokenizer is read from there. `context`: tokens that a request may have by the model's entry."""

    def __init__(self, model: str | None, *, by_root: bool, context: int | None) -> None:
        self._configured = model
        self._by_root = by_root
        self._context = context
        self._agreed: EngineFacts | None = None

    @property
    def model(self) -> str | None:
        """The name by which replicas are asked."""
        return self._configured or (self._agreed.model if self._agreed else None)

    def settle(self, told: Iterable[EngineFacts]) -> EngineFacts | None:
        """What holds for all from now on: what the first says that serves the model, with the least context of those like it."""
        for facts in told:
            if self._agreed is None and self._unnamed(facts) is None:
                self._agreed = facts
            if self._agreed is not None and self._other(facts) is None:
                self._agreed = replace(self._agreed, max_model_len=_least(self._agreed.max_model_len, facts.max_model_len))
        return self._agreed

    def outdated_by(self, said: Sequence[EngineFacts]) -> bool:
        """Whether none of the replicas, which say this now, is what was agreed on, or all have more context than that; and they
        could be agreed on anew."""
        if self._agreed is None or not said:
            return False
        least = self._agreed.max_model_len
        grown = least is not None and all(facts.max_model_len is not None and facts.max_model_len > least for facts in said)
        if not grown and any(self.objection(facts) is None for facts in said):
            return False
        return Agreement(self._configured, by_root=self._by_root, context=self._context).settle(said) is not None

    def objection(self, facts: EngineFacts) -> str | None:
        """Why a replica that says this is not used, and what to do about it; None when there is nothing."""
        agreed = self._agreed
        if (problem := self._unnamed(facts)) is not None or agreed is None:
            return problem
        if (problem := self._other(facts)) is not None:
            return problem
        needed = _least(agreed.max_model_len, self._context)
        if needed is not None and facts.max_model_len is not None and facts.max_model_len < needed:
            return (
                f"its context has {facts.max_model_len} tokens where requests may have {needed}: start it with "
                f"--max-model-len {needed}, or set context: {facts.max_model_len} in the model's entry"
            )
        return None

    def remarks(self, facts: EngineFacts) -> tuple[Finding, ...]:
        """What is odd about a replica that is used all the same."""
        agreed = self._agreed
        if agreed is None or agreed.max_model_len is None or facts.max_model_len in (None, agreed.max_model_len):
            return ()
        message = f"Its context has {facts.max_model_len} tokens, another replica's {agreed.max_model_len}, which holds for all."
        return (Finding("E003", "warn", message, "Start all replicas with the same --max-model-len."),)

    def _unnamed(self, facts: EngineFacts) -> str | None:
        wanted = self.model
        if wanted is None or wanted in facts.listed:
            return None
        served = ", ".join(facts.listed) or "nothing"
        remedy = "" if self._configured else "; once all replicas serve another model, that is taken"
        return f"it serves {served}, not {wanted}: correct engine_model or urls{remedy}"

    def _other(self, facts: EngineFacts) -> str | None:
        assert self._agreed is not None
        known = self._agreed.root
        if not self._by_root or known is None or facts.root in (None, known):
            return self._unnamed(facts)
        return (
            f"it serves {facts.root}, others {known}: if that is the same model, name its tokenizer in the model's entry; "
            "once all replicas serve another, that is taken"
        )


def _least(one: int | None, other: int | None) -> int | None:
    return min((value for value in (one, other) if value is not None), default=None)
