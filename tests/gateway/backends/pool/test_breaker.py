"""When a replica is spared, and how it comes back."""

from gateway.backends.pool.breaker import LOOKS, Breaker
from gateway.settings import BreakerSettings


def breaker(**settings: float) -> Breaker:
    return Breaker(BreakerSettings.model_validate(settings))


def test_failures_in_a_row() -> None:
    one = breaker(failures=3)
    assert [one.failed(), one.failed()] == [False, False]
    one.succeeded()
    assert [one.failed(), one.failed(), one.failed()] == [False, False, True]


def test_the_share_of_failures() -> None:
    one = breaker(failures=100, error_rate=0.5)
    verdicts = []
    for place in range(LOOKS):
        if place % 2:
            verdicts.append(one.failed())
        else:
            one.succeeded()
    assert verdicts == [False] * (LOOKS // 2 - 1) + [True]


def test_pauses_grow_until_a_trial_goes_well() -> None:
    one = breaker(pause=4, longest_pause=10)
    for longest in (4, 8, 10, 10):
        one.open(100)
        assert one.until is not None
        assert 0.8 * longest <= one.until - 100 <= 1.2 * longest
        assert not one.trial_due(100)
        assert one.trial_due(one.until)
        assert one.failed(), "a trial that fails opens it again"
    one.succeeded()
    assert one.closed
    one.open(100)
    assert one.until is not None
    assert one.until <= 100 + 4 * 1.2


def test_a_closed_one_has_no_trials() -> None:
    assert not breaker().trial_due(1e9)
