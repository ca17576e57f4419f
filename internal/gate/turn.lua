-- One turn of a key of the rate gate. All arithmetic is done by who calls; this compares and sets.
--
-- KEYS[1] is a hash: s, the state; v, its version; r, the run of the server that wrote it.
-- ARGV[1] is the clock in microseconds, empty for the server's own.
-- ARGV[2] is the version that is to be replaced, empty to only look; "-" is the version of nothing.
-- ARGV[3], ARGV[4] and ARGV[5] are the new version, the new state, and how long it is kept in milliseconds.
--
-- The answer is the clock, the version, the state, and 1 if the new state was set. If it was not, that is a look.
local run = string.match(redis.call('INFO', 'server'), 'run_id:(%w+)')
if not run then
  return redis.error_reply('ERR the server does not say which run of it this is')
end
local now = ARGV[1]
if now == '' then
  local t = redis.call('TIME')
  now = string.format('%d%06d', tonumber(t[1]), tonumber(t[2]))
end
local was = redis.call('HMGET', KEYS[1], 'v', 's', 'r')
local version, state = was[1] or '-', was[2] or ''
-- What an earlier run or another server wrote may be older than what was last answered there: then it is nothing.
if was[3] ~= run then
  version, state = '-', ''
end
if ARGV[2] == '' or ARGV[2] ~= version then
  return {now, version, state, 0}
end
redis.call('HSET', KEYS[1], 'v', ARGV[3], 's', ARGV[4], 'r', run)
redis.call('PEXPIRE', KEYS[1], ARGV[5])
return {now, ARGV[3], '', 1}
