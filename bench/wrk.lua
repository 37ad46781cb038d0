-- Requests for wrk from a list (requests.ts writes it). Prints one line of JSON.
-- Arguments: the list, the number of the first request to send, the list of single-use tokens or "-", and
-- "statuses" to count the responses by status, which costs this program a few microseconds a response.

local PLACE = "{new}"

sent, exhausted, statuses = 0, false, {}

local function build(line)
  local parts = {}
  for part in line:gmatch("[^\t]+") do parts[#parts + 1] = part end
  local size = tonumber(parts[3])
  local lines = { parts[1] .. " " .. parts[2] .. " HTTP/1.1", "Host: " .. wrk.host .. ":" .. wrk.port }
  for i = 4, #parts do lines[#lines + 1] = parts[i] end
  if size > 0 then lines[#lines + 1] = "Content-Length: " .. size end
  return table.concat(lines, "\r\n") .. "\r\n\r\n" .. string.rep("x", size)
end

-- The text before and behind the placeholder of the token; nil where there is none.
local function split(text)
  local first, last = text:find(PLACE, 1, true)
  if first == nil then return text, nil end
  return text:sub(1, first - 1), text:sub(last + 1)
end

local function skip(lines, count)
  for _ = 1, count do lines() end
end

function init(args)
  local from, count = tonumber(args[2]), 0
  local heads, tails, new, newBefore = {}, {}, 0, 0
  for line in io.lines(args[1]) do
    count = count + 1
    heads[count], tails[count] = split(build(line))
    if tails[count] ~= nil then new = new + 1 end
  end
  for i = 1, from % count do
    if tails[i] ~= nil then newBefore = newBefore + 1 end
  end
  local tokens = args[3] ~= "-" and io.lines(args[3])
  if tokens then skip(tokens, math.floor(from / count) * new + newBefore) end

  local token, verified = "", false
  request = function()
    -- wrk calls this once at its start to check the request, which it does not send.
    if not verified then
      verified = true
      return heads[1] .. (tails[1] or "")
    end
    local at = (from + sent) % count + 1
    sent = sent + 1
    if tails[at] == nil then return heads[at] end
    local next = not exhausted and tokens() or nil
    if next == nil then exhausted = true else token = next end
    return heads[at] .. token .. tails[at]
  end

  if args[4] == "statuses" then
    response = function(status) statuses[status] = (statuses[status] or 0) + 1 end
  end
end

-- The sending threads and the reporting thread have separate globals.
function setup(thread)
  sender = thread
end

function done(summary)
  local errors, counts = summary.errors, {}
  for status, number in pairs(sender:get("statuses")) do
    counts[#counts + 1] = string.format('"%d":%d', status, number)
  end
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"sent":%d,"refused":%d,"failed":%d,"exhausted":%s,"statuses":{%s}}\n',
    summary.requests, summary.duration, sender:get("sent"), errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, tostring(sender:get("exhausted")),
    table.concat(counts, ",")
  ))
end
