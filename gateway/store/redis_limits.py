"""Limits counted in Redis, so that they hold for all gateways together. Each step is one script, which nothing interrupts."""

import asyncio
import logging
from typing import Any

from gateway.errors import StoreUnavailable
from gateway.settings import KeyLimits

from .budgets import Periods, budgets_of
from .connection import connect, told
from .limits import WINDOW
from .standing import Standing, Verdict

PATIENCE = 0.5
"""Seconds for one answer of Redis: a request waits for it."""
LEASE = 60
"""Seconds after which a request that was not heard of is taken for ended: its gateway is gone."""
RENEW = 20.0
COUNTED = 600
"""Seconds for which it is remembered that a request's tokens were counted."""
LONGEST = 32 * 86400
"""Seconds after which budgets that nobody used are forgotten: more than a month has."""
log = logging.getLogger(__name__)

# Redis' own clock is used: those of the gateways may differ. The day and month of a moment, from days since 1970:
CALENDAR = """
local function periods(second)
  local days = math.floor(second / 86400)
  local z = days + 719468
  local era = math.floor(z / 146097)
  local doe = z - era * 146097
  local yoe = math.floor((doe - math.floor(doe / 1460) + math.floor(doe / 36524) - math.floor(doe / 146096)) / 365)
  local doy = doe - (365 * yoe + math.floor(yoe / 4) - math.floor(yoe / 100))
  local from_march = math.floor((5 * doy + 2) / 153)
  local month = from_march + (from_march < 10 and 3 or -9)
  local year = yoe + era * 400 + (month <= 2 and 1 or 0)
  return 'day:' .. string.format('%d', days), 'month:' .. string.format('%d', year * 12 + month)
end
"""
ENTER = f"""
{CALENDAR}
local time = redis.call('TIME')
local second = tonumber(time[1])
local now = second + time[2] / 1000000
local function standing(name, limit)
  local used, seconds, fields = 0, {{}}, redis.call('HGETALL', name)
  for i = 1, #fields, 2 do
    local at, amount = tonumber(fields[i]), tonumber(fields[i + 1])
    if at < second - {WINDOW} then
      redis.call('HDEL', name, fields[i])
    else
      used = used + amount
      seconds[#seconds + 1] = {{at, amount}}
    end
  end
  table.sort(seconds, function(a, b) return a[1] < b[1] end)
  local over, wait, reset = used + 1 - limit, 0, 0
  for _, entry in ipairs(seconds) do
    reset = entry[1] + {WINDOW + 1} - now
    if over > 0 then
      over = over - entry[2]
      wait = reset
    end
  end
  return {{used, math.ceil(reset * 1000), math.ceil(wait * 1000)}}
end
local most_requests, most_tokens, most_running = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[4])
local most_of_day, most_of_month = tonumber(ARGV[5]), tonumber(ARGV[6])
local requests, tokens, spent = {{0, 0, 0}}, {{0, 0, 0}}, {{0, 0}}
if most_requests > 0 then requests = standing(KEYS[1], most_requests) end
if most_tokens > 0 then tokens = standing(KEYS[2], most_tokens) end
if most_of_day > 0 or most_of_month > 0 then
  local found = redis.call('HMGET', KEYS[4], periods(second))
  spent = {{tonumber(found[1] or 0), tonumber(found[2] or 0)}}
end
local function verdict(refused) return {{refused, requests, tokens, spent, time[1]}} end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return verdict('') end
if most_running > 0 and redis.call('ZCARD', KEYS[3]) >= most_running then return verdict('concurrent') end
if most_of_month > 0 and spent[2] >= most_of_month then return verdict('month') end
if most_of_day > 0 and spent[1] >= most_of_day then return verdict('day') end
if requests[3] > 0 then return verdict('requests') end
if tokens[3] > 0 then return verdict('tokens') end
redis.call('ZADD', KEYS[3], now + {LEASE}, ARGV[1])
redis.call('EXPIRE', KEYS[3], {2 * LEASE})
if most_requests > 0 then
  redis.call('HINCRBY', KEYS[1], time[1], 1)
  redis.call('EXPIRE', KEYS[1], {WINDOW + 2})
  requests = standing(KEYS[1], most_requests)
end
return verdict('')
"""
# A gateway that got no answer says it again, so that what was counted is remembered for a while.
LEAVE = f"""
{CALENDAR}
redis.call('ZREM', KEYS[2], ARGV[1])
local amount = tonumber(ARGV[2])
if amount > 0 and redis.call('SET', KEYS[4], 1, 'NX', 'EX', {COUNTED}) then
  local second = redis.call('TIME')[1]
  local day, month = periods(tonumber(second))
  if ARGV[3] == '0' then
    redis.call('HINCRBY', KEYS[1], second, amount)
    redis.call('EXPIRE', KEYS[1], {WINDOW + 2})
  end
  for _, field in ipairs(redis.call('HKEYS', KEYS[3])) do
    if field ~= day and field ~= month then redis.call('HDEL', KEYS[3], field) end
  end
  redis.call('HINCRBY', KEYS[3], day, amount)
  redis.call('HINCRBY', KEYS[3], month, amount)
  redis.call('EXPIRE', KEYS[3], {LONGEST})
end
"""
RENEWAL = f"""
redis.call('ZADD', KEYS[1], 'XX', redis.call('TIME')[1] + {LEASE}, ARGV[1])
redis.call('EXPIRE', KEYS[1], {2 * LEASE})
"""


class RedisLimiter:
    """Requests that run are leases, renewed while they do: those of a gateway that died do not count for long."""

    def __init__(self, url: str, *, prefix: str, renew: float = RENEW) -> None:
        self._redis = connect(url, patience=PATIENCE)
        self._prefix = prefix
        self._renew = renew
        self._enter, self._leave, self._renewal = map(self._redis.register_script, (ENTER, LEAVE, RENEWAL))
        self._running: dict[str, str] = {}
        """Lease -> key."""
        self._renewing: asyncio.Task[None] | None = None

    @told("limits")
    async def enter(self, key: str, lease: str, limits: KeyLimits) -> Verdict:
        """Begin a request."""
        most = (
            limits.requests_per_minute,
            limits.tokens_per_minute,
            limits.concurrent_requests,
            limits.tokens_per_day,
            limits.tokens_per_month,
        )
        names = [self._name(key, kind) for kind in ("requests", "tokens", "running", "budgets")]
        refused, requests, tokens, spent, second = await self._enter(keys=names, args=[lease, *(limit or 0 for limit in most)])
        if not refused:
            self._running[lease] = key
            if self._renewing is None or self._renewing.done():
                self._renewing = asyncio.create_task(self._renew_all())
        return Verdict(
            refused.decode() or None,
            _standing(most[0], requests),
            _standing(most[1], tokens),
            *budgets_of(limits, (int(spent[0]), int(spent[1])), Periods(float(second))),
        )

    @told("limits")
    async def leave(self, key: str, lease: str, *, tokens: int, late: bool = False) -> None:
        """End it."""
        self._running.pop(lease, None)
        names = [self._name(key, kind) for kind in ("tokens", "running", "budgets", f"counted:{lease}")]
        await self._leave(keys=names, args=[lease, tokens, int(late)])

    async def close(self) -> None:
        """Close the connections."""
        if self._renewing is not None:
            self._renewing.cancel()
            await asyncio.wait((self._renewing,))
        await self._redis.aclose()

    async def _renew_all(self) -> None:
        """While anything runs."""
        while self._running:
            await asyncio.sleep(self._renew)
            try:
                for lease, key in list(self._running.items()):
                    await self._renew_one(key, lease)
            except StoreUnavailable as error:
                log.warning("running requests cannot be renewed: %s", error)

    @told("limits")
    async def _renew_one(self, key: str, lease: str) -> None:
        if lease in self._running:
            await self._renewal(keys=[self._name(key, "running")], args=[lease])

    def _name(self, key: str, kind: str) -> str:
        """With the part in braces all names of one key are in the same node of a cluster."""
        return f"{self._prefix}:limits:{{{key}}}:{kind}"


def _standing(limit: int | None, found: Any) -> Standing | None:
    if limit is None:
        return None
    used, reset, wait = map(int, found)
    return Standing(limit, max(0, limit - used), reset / 1000, wait / 1000)
