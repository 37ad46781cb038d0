/** A header section that the target does not accept: the request is refused, and the connection that it shares goes on. */

import t, { type Test } from 'tap'
import { RawClient, roundTrip } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import { codeOf } from '../support.ts'
import { answer, frame, HEADERS, RST_STREAM, serveFrames, SETTINGS } from './raw.ts'
import { front2, serve2 } from './support.ts'

const lines = (count: number, line: (at: number) => string) =>
  Array.from({ length: count }, (_, at) => line(at))
const of = (name: string, bytes: number) => `${name}: ${'v'.repeat(bytes)}`

/** By what is largest: the lines of a GET, and its path. Without SETTINGS_MAX_HEADER_LIST_SIZE. */
const TOO_LARGE: Readonly<Record<string, readonly [path: string, ...lines: string[]]>> = {
  'a value': ['/a', of('x-a', 8193)],
  'a name': ['/a', `${'n'.repeat(8193)}: 1`],
  'a path': [`/${'p'.repeat(8192)}`],
  'a query': [`/a?${'q'.repeat(8192)}`],
  'all values': ['/a', ...lines(15, (at) => of(`x-${at}`, 1024))],
  'all cookies': ['/a', ...lines(8, (at) => of('Cookie', 2000 + at))],
  'the number of fields': ['/a', ...lines(196, (at) => `x${at}:`)],
}
const FITTING: typeof TOO_LARGE = {
  'a value': ['/a', of('x-a', 8192)],
  'a path': [`/${'p'.repeat(8191)}`],
  'all values': ['/a', ...lines(14, (at) => of(`x-${at}`, 980))],
  'the number of fields': ['/a', ...lines(180, (at) => `x${at}:`)],
}

const request = ([path, ...fields]: readonly [string, ...string[]]) =>
  [`GET ${path} HTTP/1.1`, 'Host: gw.example', ...fields, 'Connection: close', '', ''].join('\r\n')

/** Another request in flight, and what has come of it once it is answered. */
async function beside(t: Test, settings: Buffer, during: (port: number) => Promise<void>): Promise<void> {
  const { port, connections } = await serveFrames(
    t,
    (connection, stream) => stream > 1 && connection.send(answer(stream)),
    settings,
  )
  const { port: gatewayPort } = await front2(t, port)
  const other = new RawClient(gatewayPort).send(request(['/other']))
  await until(() => connections[0]?.count(HEADERS) === 1, 'the other request at the target')
  await during(gatewayPort)
  connections[0]?.send(answer(1))
  t.match(await other.ended, /good/)
  t.equal(connections.length, 1)
  t.equal(connections[0]?.count(RST_STREAM), 0)
}

/** SETTINGS with SETTINGS_MAX_HEADER_LIST_SIZE. */
function announcing(bytes: number): Buffer {
  const payload = Buffer.alloc(6)
  payload.writeUInt16BE(6)
  payload.writeUInt32BE(bytes, 2)
  return frame(SETTINGS, 0, 0, payload)
}

t.test('a target that announces no limit', async (t) => {
  await beside(t, frame(SETTINGS, 0, 0), async (port) => {
    for (const [what, each] of Object.entries(TOO_LARGE)) {
      const refused = await roundTrip(port, request(each))
      t.match(refused, /^HTTP\/1\.1 431 /, what)
      t.equal(codeOf(refused), 'headers_too_large', what)
    }
    for (const [what, each] of Object.entries(FITTING))
      t.match(await roundTrip(port, request(each)), /good/, what)
  })
})

t.test('a target that announces a smaller one', async (t) => {
  await beside(t, announcing(2000), async (port) => {
    t.equal(codeOf(await roundTrip(port, request(['/a', of('x-a', 1700)]))), 'headers_too_large')
    t.match(await roundTrip(port, request(['/a', of('x-a', 1000)])), /good/)
  })
})

t.test('a target that announces a larger one gets what it accepts', async (t) => {
  await beside(t, announcing(1_000_000), async (port) => {
    for (const [what, each] of Object.entries(TOO_LARGE))
      if (what !== 'all cookies') t.match(await roundTrip(port, request(each)), /good/, what)
  })
})

t.test('what Node.js announces is what it accepts', async (t) => {
  const { port, sessions } = await serve2(t, (stream) => stream.respond({}, { endStream: true }), {
    maxHeaderListSize: 12_000,
  })
  const { port: gatewayPort } = await front2(t, port)
  for (let bytes = 10_000; bytes < 13_000; bytes += 100) {
    const received = await roundTrip(gatewayPort, request(['/a', of('x-a', bytes)]))
    t.match(received, bytes < 11_000 ? / 200 / : / (200|431) /, `${bytes} bytes`)
    if (bytes > 12_000) t.match(received, / 431 /)
  }
  t.equal(sessions.length, 1)
})
