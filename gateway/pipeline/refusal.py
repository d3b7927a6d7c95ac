"""What a caller is told whose key has reached a limit."""

from gateway.errors import BudgetSpent, LimitError, TokenLimitError
from gateway.settings import ApiKey
from gateway.store import Standing, Verdict

from .standing import duration


def refusal(verdict: Verdict, key: ApiKey, *, claim: int | None = None) -> LimitError:
    """The error of a request that was not let in. `claim`: tokens that it might have taken; None: it is not known yet."""
    met = verdict.met
    if met is not None and not met.wait:
        return _full(verdict, met, claim)
    limits, wait = key.limits, verdict.retry_after
    again = f"Please try again in {duration(wait)}."
    match verdict.refused:
        case "concurrent":
            most = f"this key may have {limits.concurrent_requests}"
            return LimitError(f"Too many requests at once: {most}. {again}", retry_after=wait)
        case "tokens":
            message = f"Rate limit reached for tokens per minute (TPM): Limit {limits.tokens_per_minute}. {again}"
            return TokenLimitError(message, retry_after=wait)
        case "day" | "month" as period:
            budget = limits.tokens_per_day if period == "day" else limits.tokens_per_month
            used = f"this key may use {budget} tokens a {period} (UTC), and they are used"
            return BudgetSpent(f"You exceeded your current quota: {used}. {again}", retry_after=wait)
        case _:
            message = f"Rate limit reached for requests per minute (RPM): Limit {limits.requests_per_minute}. {again}"
            return LimitError(message, retry_after=wait)


def _full(verdict: Verdict, met: Standing, claim: int | None) -> LimitError:
    """Running requests have reserved what this one needs: soon there may be room."""
    what = "tokens per minute (TPM)" if verdict.refused == "tokens" else f"tokens per {verdict.refused}"
    left = f"Limit {met.limit}, Remaining {met.remaining} beside what running requests of this key may take"
    left += "" if claim is None else f", Requested {claim}"
    wait = verdict.retry_after
    remedy = f"Please try again in {duration(wait)}, or ask for fewer tokens (max_tokens)."
    return TokenLimitError(f"Rate limit reached for {what}: {left}. {remedy}", retry_after=wait)
