"""The steps of limits in Redis. Each is one script, which nothing interrupts, so that all gateways count as one.

Their keys are those of one API key: requests and tokens of the last minute by second, leases of running requests by when they
end, tokens of the day and the month, tokens that leases have reserved (and `:all` of them together), and a mark that a lease was
counted.
"""

from .limits import WINDOW

LEASE = 60
"""Seconds after which a request that was not heard of is taken for ended: its gateway is gone."""
COUNTED = 600
"""Seconds for which it is remembered that a request's tokens were counted."""
LONGEST = 32 * 86400
"""Seconds after which budgets that nobody used are forgotten: more than a month has."""
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
RELEASE = """
local function release(lease)
  local amount = redis.call('HGET', KEYS[5], lease)
  if amount then
    redis.call('HDEL', KEYS[5], lease)
    redis.call('HINCRBY', KEYS[5], ':all', -tonumber(amount))
  end
end
"""
# Everything is looked up before anything is decided. `claim`: tokens that this request may take.
STANDING = f"""
{CALENDAR}
{RELEASE}
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
local most_of_day, most_of_month, claim = tonumber(ARGV[5]), tonumber(ARGV[6]), tonumber(ARGV[7])
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[3], '-inf', now)) do release(dead) end
redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', now)
local requests, tokens, spent = {{0, 0, 0}}, {{0, 0, 0}}, {{0, 0}}
if most_requests > 0 then requests = standing(KEYS[1], most_requests) end
if most_tokens > 0 then tokens = standing(KEYS[2], most_tokens) end
if most_of_day > 0 or most_of_month > 0 then
  local found = redis.call('HMGET', KEYS[4], periods(second))
  spent = {{tonumber(found[1] or 0), tonumber(found[2] or 0)}}
end
local own = tonumber(redis.call('HGET', KEYS[5], ARGV[1]) or 0)
local others = tonumber(redis.call('HGET', KEYS[5], ':all') or 0) - own
local function verdict(refused, reserved) return {{refused, requests, tokens, spent, time[1], reserved}} end
local function spent_limit()
  if most_of_month > 0 and spent[2] >= most_of_month then return 'month' end
  if most_of_day > 0 and spent[1] >= most_of_day then return 'day' end
  if most_tokens > 0 and tokens[1] >= most_tokens then return 'tokens' end
end
local function full_limit()
  if others <= 0 then return nil end
  if most_of_month > 0 and spent[2] + others + claim > most_of_month then return 'month' end
  if most_of_day > 0 and spent[1] + others + claim > most_of_day then return 'day' end
  if most_tokens > 0 and tokens[1] + others + claim > most_tokens then return 'tokens' end
end
"""
ENTER = f"""
{STANDING}
if redis.call('ZSCORE', KEYS[3], ARGV[1]) then return verdict('', others + own) end
if most_running > 0 and redis.call('ZCARD', KEYS[3]) >= most_running then return verdict('concurrent', others) end
local spent_up = spent_limit()
if spent_up == 'month' or spent_up == 'day' then return verdict(spent_up, others) end
if requests[3] > 0 then return verdict('requests', others) end
local refused = spent_up or full_limit()
if refused then return verdict(refused, others) end
redis.call('ZADD', KEYS[3], now + {LEASE}, ARGV[1])
redis.call('EXPIRE', KEYS[3], {2 * LEASE})
if most_requests > 0 then
  redis.call('HINCRBY', KEYS[1], time[1], 1)
  redis.call('EXPIRE', KEYS[1], {WINDOW + 2})
  requests = standing(KEYS[1], most_requests)
end
return verdict('', others)
"""
RESERVE = f"""
{STANDING}
release(ARGV[1])
local refused = spent_limit() or full_limit()
if refused then return verdict(refused, others) end
redis.call('ZADD', KEYS[3], now + {LEASE}, ARGV[1])
redis.call('EXPIRE', KEYS[3], {2 * LEASE})
redis.call('HSET', KEYS[5], ARGV[1], claim)
redis.call('HINCRBY', KEYS[5], ':all', claim)
redis.call('EXPIRE', KEYS[5], {2 * LEASE})
return verdict('', others + claim)
"""
# A gateway that got no answer says it again, so that what was counted is remembered for a while.
LEAVE = f"""
{CALENDAR}
{RELEASE}
redis.call('ZREM', KEYS[3], ARGV[1])
release(ARGV[1])
local amount = tonumber(ARGV[2])
if amount > 0 and redis.call('SET', KEYS[6], 1, 'NX', 'EX', {COUNTED}) then
  local second = redis.call('TIME')[1]
  local day, month = periods(tonumber(second))
  if ARGV[3] == '0' then
    redis.call('HINCRBY', KEYS[2], second, amount)
    redis.call('EXPIRE', KEYS[2], {WINDOW + 2})
  end
  for _, field in ipairs(redis.call('HKEYS', KEYS[4])) do
    if field ~= day and field ~= month then redis.call('HDEL', KEYS[4], field) end
  end
  redis.call('HINCRBY', KEYS[4], day, amount)
  redis.call('HINCRBY', KEYS[4], month, amount)
  redis.call('EXPIRE', KEYS[4], {LONGEST})
end
"""
RENEWAL = f"""
redis.call('ZADD', KEYS[3], 'XX', redis.call('TIME')[1] + {LEASE}, ARGV[1])
redis.call('EXPIRE', KEYS[3], {2 * LEASE})
redis.call('EXPIRE', KEYS[5], {2 * LEASE})
"""
