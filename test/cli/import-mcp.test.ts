/** `seatgate import mcp`, from a server and from files, and the table that it makes. */

import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { listen } from '../support/listen.ts'
import { sampleServer } from '../support/mcp-server.ts'
import { CONFIG, folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const TOOLS = {
  tools: [{ name: 'b c' }, { name: 'a' }, { name: 'get_*' }, { name: 'true' }],
  resources: [{ uri: 'docs://x/y' }, { uri: 'docs://x/../y' }],
}

const TABLE = `upstream: trainings
mcp:
  path: /mcp
  resource: https://gw.example/mcp
  authorization_servers:
    - https://login.acme.example
  tools:
`

t.test('from a server', async (t) => {
  const url = `http://127.0.0.1:${await listen(t, createServer(sampleServer().listener))}/mcp`
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/x.txt': '' })
  const options = ['--upstream', 'trainings', '--resource', 'https://gw.example/mcp']
  const login = ['--authorization-server', 'https://login.acme.example']
  const made = await seatgateHere(cwd, ['import', 'mcp', url, ...options, ...login, '--out', 'routes/a.yaml'])
  t.match(made, { code: 0, out: 'routes/a.yaml: 5 lines\n', err: '' })
  const text = readFileSync(join(cwd, 'routes/a.yaml'), 'utf8')
  t.match(text, TABLE)
  t.match(text, '    get_weather: trainings:get_weather\n')
  t.match(text, '  prompts:\n    review: trainings.prompts:review\n')
  t.match(text, '    docs://handbook/start: trainings.resources:read\n')
  t.match(await seatgateHere(cwd, ['check', '--strict']), { code: 0 })
  t.match(await seatgateHere(cwd, ['import', 'mcp', url, ...options, '--out', 'routes/a.yaml']), { code: 1 })
})

t.test('from a file', async (t) => {
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/x.txt': '',
    'result.json': JSON.stringify(TOOLS),
    'messages.json': JSON.stringify([{ jsonrpc: '2.0', id: 1, result: { tools: [{ name: 'a' }] } }]),
    'nothing.json': '{"a":1}',
    'broken.json': '{',
    'twice.json': '{"tools":[],"tools":[]}',
  })
  const run = (...args: string[]) => seatgateHere(cwd, ['import', 'mcp', ...args, '--upstream', 'trainings'])
  const made = await run('result.json', '--out', 'routes/a.yaml')
  t.equal(made.code, 0)
  t.match(made.err, /tool get_\*: left out: "get_\*" has a wildcard/)
  t.match(made.err, /resource docs:\/\/x\/\.\.\/y: left out/)
  t.match(made.err, /resource: https:\/\/gw.example\/mcp stands for the URL/)
  const text = readFileSync(join(cwd, 'routes/a.yaml'), 'utf8')
  t.match(text, '    a: trainings:a\n    b c: trainings:b-c\n    "true": trainings:true\n')
  t.match(await seatgateHere(cwd, ['check']), { code: 0 })
  t.match(await run('messages.json'), { code: 0, out: /a: trainings:a/ })
  t.equal((await run('messages.json', '--strict')).code, 3)
  for (const file of ['nothing.json', 'broken.json', 'twice.json', 'absent.json'])
    t.match(await run(file), { code: 1, err: new RegExp(file) })
  t.equal((await run('result.json', '--update', '--out', 'routes/a.yaml')).code, 2)
  t.match(await run('http://127.0.0.1:9/mcp'), { code: 1, err: /127\.0\.0\.1:9/ })
})
