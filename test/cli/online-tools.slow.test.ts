/** `check --online` compares the lines of a table with what its MCP server lists. */

import { createServer } from 'node:http'
import t from 'tap'
import { listen } from '../support/listen.ts'
import { sampleServer } from '../support/mcp-server.ts'
import { CONFIG, folderWith } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const table = (lines: readonly string[]) =>
  `upstream: trainings\nprefix: /agents\nstrip_prefix: true\nmcp:\n  path: /mcp\n  resource: https://gw.example/mcp\n${lines.map((line) => `  ${line}\n`).join('')}`

const ALL = [
  'tools: { get_weather: a:b, delete_user: a:b, wait: a:b }',
  'prompts: { review: a:b }',
  'resources: { "docs://handbook/*": a:b }',
]

t.test('lines and lists', async (t) => {
  const url = `http://127.0.0.1:${await listen(t, createServer(sampleServer().listener))}`
  const run = (lines: readonly string[], target = url) => {
    const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': table(lines) })
    return seatgateHere(cwd, ['check', '--online', '--format', 'json'], { TRAININGS_URL: target })
  }
  const codes = (out: string) =>
    JSON.parse(out)
      .warnings.filter(({ code }: { code: string }) => code.startsWith('tool_'))
      .map(({ code, line, message }: { code: string; line: number; message: string }) => ({
        code,
        line,
        message,
      }))
  t.same(codes((await run(ALL)).out), [])
  t.match(codes((await run(['tools: { get_weather: a:b, wait: a:b, lost: a:b }', ...ALL.slice(1)])).out), [
    { code: 'tool_unlisted', line: 4, message: /tool \/agents\/mcp#delete_user/ },
    { code: 'tool_absent', line: 7, message: /tool \/agents\/mcp#lost/ },
  ])
  const { out } = await run(ALL.slice(0, 1))
  t.match(codes(out), [{ message: /prompt .*review/ }, { message: /resource .*docs:\/\/handbook\/start/ }])
  const other = createServer((_, response) => void response.writeHead(401).end('no'))
  const closed = await run(ALL, `http://127.0.0.1:${await listen(t, other)}`)
  t.same(codes(closed.out), [])
  t.match(closed.out, /are not compared: answers/)
})
