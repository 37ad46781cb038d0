/** The ops listener, as a scraper sees it. */

import t from 'tap'
import { startWorld } from '../support/world.ts'
import { openOps } from '../../src/runtime/ops.ts'
import { roundTrip } from '../support/raw-client.ts'

const source = {
  readiness: () => ({ ready: true, parts: {} }),
  metrics: async () => ({ type: 'text/plain', text: 'a 1\n' }),
  hosts: () => ['gateway.internal'],
}

t.test('keeps a connection for longer than between two scrapes', async (t) => {
  const ops = await openOps({ host: '127.0.0.1', port: 0 }, source)
  t.teardown(() => ops.close(0))
  const answer = await fetch(`http://127.0.0.1:${ops.address.port}/metrics`)
  t.equal(await answer.text(), 'a 1\n')
  t.equal(answer.headers.get('keep-alive'), 'timeout=75')
})

t.test('methods other than GET and HEAD get 405', async (t) => {
  const ops = await openOps({ host: '127.0.0.1', port: 0 }, source)
  t.teardown(() => ops.close(0))
  const answer = await fetch(`http://127.0.0.1:${ops.address.port}/metrics`, { method: 'POST' })
  t.equal(answer.status, 405)
  t.equal(answer.headers.get('allow'), 'GET, HEAD')
})

t.test('a web page whose name resolves to this listener (DNS rebinding) reads nothing', async (t) => {
  const ops = await openOps({ host: '127.0.0.1', port: 0 }, source)
  t.teardown(() => ops.close(0))
  const { port } = ops.address
  const ask = (lines: string, version = '1.1') =>
    roundTrip(port, `GET /metrics HTTP/${version}\r\n${lines}Connection: close\r\n\r\n`)
  for (const host of [
    'evil.example',
    `evil.example:${port}`,
    'localhost.evil.example',
    'evil.localhost',
    '127.0.0.1.evil.example',
    '127.0.0.1@evil.example',
    '127.1',
    '0x7f.0.0.1',
    '2130706433',
    '[::1].evil.example',
    '[evil.example]',
    '::1',
    'gateway.internal.evil.example',
    'internal',
    'localhost:http',
    '',
  ]) {
    const answer = await ask(`Host: ${host}\r\n`)
    t.match(answer, /^HTTP\/1\.1 421 [\s\S]*ops_hosts/, JSON.stringify(host))
    t.notMatch(answer, 'a 1')
  }
  t.match(await ask('Host: evil.example\r\n', '1.0'), /^HTTP\/1\.1 421 /)
  t.notMatch(await ask('Host: 127.0.0.1\r\nHost: evil.example\r\n'), 'a 1', 'two Host headers')
  t.notMatch(
    await roundTrip(
      port,
      'GET http://evil.example/metrics HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    ),
    'a 1',
  )
})

t.test('answers IP addresses, localhost and listed names', async (t) => {
  const ops = await openOps({ host: '127.0.0.1', port: 0 }, source)
  t.teardown(() => ops.close(0))
  const { port } = ops.address
  for (const host of [
    '127.0.0.1',
    `127.0.0.1:${port}`,
    '10.1.2.3:9090',
    '[::1]:9090',
    '[fd00::7]',
    'localhost',
    'LocalHost:9090',
    'gateway.internal',
    'Gateway.Internal.:9090',
  ])
    t.match(
      await roundTrip(port, `GET /metrics HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`),
      /^HTTP\/1\.1 200 [\s\S]*a 1/,
      host,
    )
  t.match(await roundTrip(port, 'GET /livez HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /, 'HTTP/1.0 without Host')
})

t.test('the allowed names come from the configuration', async (t) => {
  const world = await startWorld(t, { top: ['ops_hosts: [Gateway.internal]'] })
  const port = Number(new URL(world.ops).port)
  const ask = (host: string) =>
    roundTrip(port, `GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)
  t.match(await ask('gateway.internal:9090'), /^HTTP\/1\.1 200 /)
  t.match(await ask('other.internal'), /^HTTP\/1\.1 421 /)
})
