/** Tools, prompts and resources of an MCP server, in each command about routes. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { CONFIG, folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const TABLE = `upstream: trainings
mcp:
  path: /mcp
  resource: https://gw.example/mcp
  tools:
    get_weather: weather:read
    delete_user: users:delete
  resources:
    docs://handbook/*: docs:read
`
const SEATS = {
  tenant: 'acme',
  seats: { Reader: { spaces: ['main'], permissions: ['weather:read', 'docs:read'] } },
}
const POLICY = `tenant: acme
seats: { Reader: { spaces: [main], permissions: [weather:read, docs:read] } }
cases:
  - { request: tool get_weather, seats: [Reader], space: main, expect: allow }
  - { request: tool /mcp#get_weather, seats: [Reader], space: main, expect: allow }
  - { request: tool delete_user, seats: [Reader], space: main, expect: permission_denied }
  - { request: tool other, seats: [Reader], space: main, expect: route_not_found }
  - { request: "resource docs://handbook/a b", seats: [Reader], space: main, expect: allow }
  - { request: method tools/list, seats: [Reader], expect: allow }
  - { request: method initialize, seats: [Reader], expect: route_not_found }
assert:
  - { only: [], may: POST /mcp }
  - { public: [GET /.well-known/**] }
`

const files = (table: string) => ({
  'gateway.config.yaml': CONFIG,
  'routes/a.yaml': table,
  'seats.yaml': JSON.stringify(SEATS),
  'policy/acme.yaml': POLICY,
})

const FROM = ['--seats', 'seats.yaml', '--tenant', 'acme']

async function printed(t: Test, cwd: string, args: readonly string[], code = 0): Promise<string> {
  const ran = await seatgateHere(cwd, args)
  t.equal(ran.code, code, `${args.join(' ')}\n${ran.out}${ran.err}`)
  return ran.out
}

t.test('one server', async (t) => {
  const cwd = folderWith(t, files(TABLE))
  await printed(t, cwd, ['check'])
  const routes = JSON.parse(await printed(t, cwd, ['routes', '--json']))
  t.match(
    routes.find(({ method }: { method: string }) => method === 'tool'),
    { method: 'tool', path: '/mcp#get_weather', permission: 'weather:read', upstream: 'trainings', line: 6 },
  )
  const lint = await printed(t, cwd, ['lint', ...FROM])
  t.match(lint, /tool \/mcp#delete_user .*requires users:delete, which no\s+Seat/)
  t.notMatch(lint, 'get_weather')
  for (const asked of [['tool get_weather'], ['tool', 'get_weather'], ['tool', '/mcp#get_weather']]) {
    const who = await printed(t, cwd, ['who-can', ...asked, ...FROM])
    t.match(who, /tool \/mcp#get_weather .*requires weather:read/)
    t.match(who, '"Reader"')
  }
  t.match(await printed(t, cwd, ['who-can', 'tool other', ...FROM], 3), 'no route matches tool other')
  const can = await printed(t, cwd, ['can', '--seat', 'Reader', ...FROM])
  t.match(can, 'tool /mcp#get_weather  weather:read')
  t.notMatch(can, 'delete_user')
  const tested = await seatgateHere(cwd, ['test', 'policy/acme.yaml'])
  t.match(tested.out, '8 passed, 1 failed')
  t.match(tested.out, /tool \/mcp#get_weather/, 'the assertion fails at a tool that a Seat may call')
  const explained = await printed(t, cwd, [
    'explain',
    'tool get_weather',
    '--tenant',
    'acme',
    '--space',
    'main',
    '--json',
  ])
  t.match(JSON.parse(explained), {
    answer: 'deny',
    code: 'no_seat_in_space',
    method: 'POST',
    path: '/mcp',
    permission: 'weather:read',
    route: { id: 'tool /mcp#get_weather' },
  })
  t.match(await printed(t, cwd, ['explain', 'POST', '/mcp']), /request_malformed/)
})

t.test('a difference', async (t) => {
  const before = folderWith(t, files(TABLE))
  const after = folderWith(t, files(TABLE.replace('weather:read', 'authenticated')))
  const { code, out } = await seatgateHere(after, [
    'diff',
    join(before, 'gateway.config.yaml'),
    'gateway.config.yaml',
  ])
  t.equal(code, 3, out)
  t.match(out, /tool \/mcp#get_weather/)
  t.match(out, /weather:read/)
  writeFileSync(join(after, 'routes/a.yaml'), TABLE)
  t.equal(
    (await seatgateHere(after, ['diff', join(before, 'gateway.config.yaml'), 'gateway.config.yaml'])).code,
    0,
  )
})

t.test('several servers', async (t) => {
  const cwd = folderWith(t, {
    ...files(TABLE),
    'routes/b.yaml': TABLE.replaceAll('/mcp', '/other').replace('delete_user', 'only_here'),
    'policy/acme.yaml': 'tenant: acme\nseats: {}\ncases: [{ request: tool get_weather, expect: allow }]\n',
  })
  const several =
    /Several MCP servers have this name: ask for "tool \/mcp#get_weather" or\s+"tool \/other#get_weather"/
  t.match((await seatgateHere(cwd, ['explain', 'tool get_weather'])).err, several)
  t.match((await seatgateHere(cwd, ['who-can', 'tool get_weather', ...FROM])).err, several)
  t.match((await seatgateHere(cwd, ['test', 'policy/acme.yaml'])).err, several)
  t.match(await printed(t, cwd, ['explain', 'tool only_here']), 'tool /other#only_here')
  t.match(await printed(t, cwd, ['explain', 'tool', '/other#get_weather']), 'tool /other#get_weather')
})
