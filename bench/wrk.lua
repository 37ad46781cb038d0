-- Requests for wrk from a list, one a line: path, tab, header line (requests.ts writes it). Prints one line of JSON.
-- Arguments: the list, its length, "once" or "over", method, bytes of body, then header lines that all have.

exhausted = false

function init(args)
  local count, once, method, size = tonumber(args[2]), args[3] == "once", args[4], tonumber(args[5])
  local common = " HTTP/1.1\r\nHost: " .. wrk.host .. ":" .. wrk.port .. "\r\n"
  for i = 6, #args do common = common .. args[i] .. "\r\n" end
  if size > 0 then common = common .. "Content-Length: " .. size .. "\r\n" end
  local body = string.rep("x", size)

  local function build(line)
    local path, header = line:match("^([^\t]*)\t(.*)$")
    if header ~= "" then header = header .. "\r\n" end
    return method .. " " .. path .. common .. header .. "\r\n" .. body
  end

  local lines = io.lines(args[1])
  if once then
    local last
    request = function()
      local line = not exhausted and lines() or nil
      if line == nil then exhausted = true else last = build(line) end
      return last
    end
    return
  end
  local all, at = {}, 0
  for line in lines do all[#all + 1] = build(line) end
  request = function()
    at = at % count + 1
    return all[at]
  end
end

-- The thread that sends and the one that reports have globals of their own.
function setup(thread)
  sender = thread
end

function done(summary)
  local errors = summary.errors
  io.write(string.format(
    '{"requests":%d,"microseconds":%d,"refused":%d,"failed":%d,"exhausted":%s}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout, tostring(sender:get("exhausted"))
  ))
end
