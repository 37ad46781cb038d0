/** Over-long targets, header sections and fields: each has its own code, and the gateway keeps running. */

import t from 'tap'
import { startWorld } from '../support/world.ts'
import { roundTrip } from '../support/raw-client.ts'

t.test('targets, header sections and fields beyond their limits', async (t) => {
  const world = await startWorld(t)
  const get = (target: string, more = '') => `GET ${target} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
  const codeOf = (answer: string) => /"code":"([a-z_]+)"/.exec(answer)?.[1]
  t.equal(codeOf(await roundTrip(world.port, get(`/docs/${'a'.repeat(9000)}`), /}\n$/)), 'uri_too_long')
  t.equal(
    codeOf(await roundTrip(world.port, get('/docs/a', `X-A: ${'a'.repeat(40_000)}\r\n`))),
    'headers_too_large',
  )
  t.equal(
    codeOf(await roundTrip(world.port, get('/docs/a', 'X-A: a\r\n'.repeat(200)), /}\n$/)),
    'headers_too_large',
  )
  t.equal(
    codeOf(await roundTrip(world.port, get('/docs/a', 'X-A: a\r\n'.repeat(2500)), /}\n$/)),
    'headers_too_large',
  )
  t.equal(world.upstream.seen.length, 0)
  t.match(await roundTrip(world.port, get('/docs/a', 'X-A: a\r\n'.repeat(198)), /true}/), /^HTTP\/1\.1 200/)
})
