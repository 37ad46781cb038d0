/** The parsed lines of one response on an upstream connection never become part of the next one. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t from 'tap'
import { fieldsOf, front, get, serveRaw } from '../proxy/support.ts'
import { Reading } from './response-heads.ts'
import { RawClient } from '../support/raw-client.ts'

const LINES = [
  ...[
    'X-A: 1',
    'X-A: 12',
    'X-A:1',
    'X-A:  1',
    'X-A: 1 ',
    'x-a: 1',
    'X-A',
    'X-A :1',
    ' 1',
    '\t1',
    'X-A: 1\n',
    ': 1',
    '',
  ],
  ...[
    'Content-Length: 5',
    'Content-Length: 55',
    'content-length: 5',
    'Transfer-Encoding: chunked',
    'X-B: \xe4',
  ],
  ...[
    'Connection: close',
    'Connection: keep-alive',
    'Keep-Alive: timeout=5',
    'Keep-Alive: timeout=55',
    'X-B: \0',
  ],
]

t.test('each response is parsed as if it were the first, whatever came before', async (t) => {
  const head = fc
    .tuple(
      fc.constantFrom('200 OK', '204 A', '304 B', '103 C'),
      fc.array(fc.constantFrom(...LINES), { maxLength: 6 }),
    )
    .map(([status, lines]) => `HTTP/1.1 ${status}\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`)
  // Usually the same header section again with one changed line.
  const drawn = fc.tuple(head, fc.nat(8), fc.constantFrom(...LINES), fc.boolean())
  const heads = fc.array(drawn, { minLength: 1, maxLength: 4 })
  let read = 0
  fc.assert(
    fc.property(heads, (sequence) => {
      const connection = new Reading()
      for (const [text, at, line, bodiless] of sequence.flatMap((it) => [it, it])) {
        const lines = text.split('\r\n')
        if (at > 0 && at < lines.length - 2) lines[at] = line
        for (const head of [text, lines.join('\r\n'), text]) {
          const again = connection.read(head, bodiless)
          assert.deepEqual(again, new Reading().read(head, bodiless), JSON.stringify(head))
          if (typeof again !== 'string') read++
        }
      }
    }),
    { numRuns: 500 },
  )
  t.ok(read > 500, `${read} of them are responses`)
})

const SAME = ['Server: up', 'X-One: a', 'Content-Length: 1']

/** The responses of an upstream in sequence, and their lines that are forwarded. */
const ANSWERS = [
  [SAME, SAME],
  [SAME, SAME],
  [SAME, SAME],
  [
    ['Server: up', 'X-One: ab', 'Content-Length: 1'],
    ['Server: up', 'X-One: ab', 'Content-Length: 1'],
  ],
  [
    ['Server: up', 'X-One:ab', 'Content-Length: 1'],
    ['Server: up', 'X-One: ab', 'Content-Length: 1'],
  ],
  [
    ['Server: up', 'Content-Length: 1'],
    ['Server: up', 'Content-Length: 1'],
  ],
  [
    ['Server: up', 'Connection: x-one', 'X-One: a', 'Content-Length: 1'],
    ['Server: up', 'Content-Length: 1'],
  ],
  [SAME, SAME],
  [
    ['X-Request-Id: theirs', 'X-One: a', 'X-Seatgate-User: root', 'Content-Length: 1'],
    ['X-One: a', 'Content-Length: 1'],
  ],
  [
    ['X-Request-Id: theirs', 'X-One: a', 'X-Seatgate-User: root', 'Content-Length: 1'],
    ['X-One: a', 'Content-Length: 1'],
  ],
  [
    ['X-Request-Id: theirs', 'X-One: a', 'X-Seatgate-User: root', 'Content-Length: 1'],
    ['X-One: a', 'Content-Length: 1'],
  ],
] as const

t.test('each client gets the lines of its own response', async (t) => {
  const rest = ANSWERS.map(([sequence]) => sequence)
  let connections = 0
  const port = await serveRaw(t, (socket) => {
    connections++
    socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${rest.shift()?.join('\r\n')}\r\n\r\n1`))
  })
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort)
  t.teardown(() => wire.socket.destroy())
  for (const [at, [, passes]] of ANSWERS.entries()) {
    wire.received = ''
    wire.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const forwarded = fieldsOf(await wire.until(/\r\n\r\n1$/))
    const ours = ['date', 'connection', 'keep-alive']
    t.same(
      forwarded.filter(([name]) => !ours.includes(name)),
      [
        ...passes.map((line) => [
          line.slice(0, line.indexOf(':')).toLowerCase(),
          line.slice(line.indexOf(' ') + 1),
        ]),
        ['x-request-id', `id-${at + 1}`],
      ],
    )
  }
  t.equal(connections, 1)
})

t.test('one repeated response, to clients of different kinds', async (t) => {
  let connections = 0
  const port = await serveRaw(t, (socket) => {
    connections++
    socket.on('data', (bytes) => {
      const body = bytes.toString().startsWith('HEAD') ? '' : '1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n'
      socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n${body}`)
    })
  })
  const { port: gatewayPort } = await front(t, port)
  const of = {
    'GET / HTTP/1.1':
      /^HTTP\/1\.1 200 OK\r\ntrailer: X-Sum\r\n[\s\S]*Transfer-Encoding: chunked[\s\S]*1\r\nx\r\n0\r\nX-Sum: 1\r\n\r\n$/i,
    'GET / HTTP/1.0': /^HTTP\/1\.1 200 OK\r\nx-request-id: [\s\S]*Connection: close\r\n\r\nx$/i,
    'HEAD / HTTP/1.1': /^HTTP\/1\.1 200 OK\r\nx-request-id: [\s\S]*\r\n\r\n$/i,
  }
  for (let round = 0; round < 4; round++)
    for (const [line, expected] of Object.entries(of)) {
      const wire = new RawClient(gatewayPort).send(`${line}\r\nHost: a\r\nConnection: close\r\n\r\n`)
      t.match(await wire.ended, expected, line)
    }
  t.equal(connections, 1)
})

t.test('an incomplete or malformed line behind lines that were valid before', async (t) => {
  for (const bad of [
    'X-One: a\n',
    ' folded',
    'X-One : a',
    'X-One: a\0',
    'Content-Length: 1\r\nContent-Length: 1',
  ]) {
    let requests = 0
    let connections = 0
    const port = await serveRaw(t, (socket) => {
      connections++
      socket.on('data', () => {
        const last = requests++ === 2 ? bad : 'X-One: a'
        socket.write(`HTTP/1.1 200 OK\r\nServer: up\r\n${last}\r\nContent-Length: 1\r\n\r\n1`)
      })
    })
    const { port: gatewayPort } = await front(t, port)
    const statuses: string[] = []
    for (let i = 0; i < 3; i++) {
      const wire = new RawClient(gatewayPort).send(get())
      statuses.push((await wire.ended).slice(9, 12))
    }
    t.same(statuses, ['200', '200', '502'], JSON.stringify(bad))
    t.equal(connections, 1)
  }
})
