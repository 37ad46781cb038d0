/**
 * HAProxy in front of the gateway, which shares its connections of HTTP/2 among clients: what one of them asks for ends no request
 * of the others. HAProxy ends a connection for a response section that it does not accept.
 */

import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startSecured } from '../http2/support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { findProgram } from '../support/servers/binaries.ts'
import { Child } from '../support/servers/child.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { onReservedPort } from '../support/servers/ports.ts'
import { HAPROXY_ADDRESS, sharingHaproxy } from '../support/servers/sharing-haproxy.ts'
import { until } from '../support/until.ts'

const OTHERS = 20

/** @returns its port */
function startProxy(t: Test, gateway: number): Promise<number> {
  return onReservedPort(t, async (port) => {
    const folder = serverFolder(t, 'haproxy')
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, sharingHaproxy(port, gateway))
    const child = new Child(folder)
    t.teardown(() => child.end())
    await child.spawn({ program: await findProgram('haproxy'), args: ['-db', '-f', file] })
    await child.listensOn(port)
    return port
  })
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`

/** `/docs/bytes/N`: N fields of 1,000 bytes; `/docs/fields/N`: N small fields; `/docs/value/N`: a value of N bytes. */
function answer(path: string, response: ServerResponse): void {
  const [, , kind, number] = path.split('/')
  const count = Number(number)
  if (kind === 'value') response.setHeader('x-large', 'v'.repeat(count))
  else for (let i = 0; i < count; i++) response.setHeader(`x-${i}`, kind === 'bytes' ? 'v'.repeat(1000) : '1')
  response.end('good')
}

t.test('header sections of responses of any size', async (t) => {
  const held: ServerResponse[] = []
  const world = await startSecured(t, {
    top: [`trusted_proxies: [${HAPROXY_ADDRESS}/32]`],
    answer: ({ url = '' }, response) =>
      url === '/docs/held' ? void held.push(response) : answer(url, response),
  })
  const port = await startProxy(t, world.securePort)
  const others = Array.from({ length: OTHERS }, () => new RawClient(port).send(get('/docs/held')))
  await until(() => held.length === OTHERS, 'the requests of others')
  const sizes = {
    value: [1000, 8000, 12_000, 16_384, 20_000, 50_000],
    bytes: [10, 15, 16, 20, 40],
    fields: [90, 150, 200, 400],
  }
  for (const [kind, each] of Object.entries(sizes))
    for (const size of each) {
      const received = await roundTrip(port, get(`/docs/${kind}/${size}`))
      // HAProxy answers 502 for a stream that is reset.
      t.match(received, size === each[0] ? / 200 / : / (200|502) /, `${kind} ${size}`)
    }
  for (const response of held) response.end('good')
  for (const other of others) t.match(await other.ended, /good/)
})
