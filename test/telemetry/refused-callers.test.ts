/** The line of a refused request says whose it was, where a signature or key was right, and why it was refused. */

import t from 'tap'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, { top: ['trusted_proxies: [127.0.0.1]'] })
const { client } = world

/** The line of the request that was refused last. */
async function lineOf(headers: Record<string, string>, path = '/v1/me'): Promise<Record<string, unknown>> {
  const { status } = await client.send('GET', path, headers)
  t.ok(status >= 400)
  return world.log().findLast(({ msg }) => msg === 'request') ?? {}
}

t.test('an expired token, and one that is not valid yet', async (t) => {
  const day = 24 * 3600 * 1000
  const expired = await world.token([], { sub: 'bob', tenant: 'globex', now: Date.now() - 30 * day })
  t.match(await lineOf({ authorization: `Bearer ${expired}` }), {
    code: 'token_expired',
    tenant: 'globex',
    user: 'bob',
    detail: 'The token has expired.',
  })
  const early = await world.token([], { sub: 'bob', now: Date.now() + day })
  t.match(await lineOf({ authorization: `Bearer ${early}` }), {
    code: 'token_not_yet_valid',
    tenant: 'acme',
    user: 'bob',
  })
})

t.test('a revoked key', async (t) => {
  const body = { name: 'old', seats: [] }
  const made = await world.admin('POST', '/v1/api-keys', body)
  await world.admin('DELETE', `/v1/api-keys/${made.json.id}`)
  t.match(await lineOf({ 'x-api-key': made.json.key }), {
    code: 'api_key_revoked',
    tenant: 'acme',
    user: made.json.id,
    detail: 'The API key has been revoked.',
  })
})

t.test('a credential that proves nothing names no caller', async (t) => {
  const token = await world.token([], { sub: 'bob' })
  const forged = `${token.slice(0, token.lastIndexOf('.'))}.${'A'.repeat(43)}`
  for (const headers of [{ authorization: `Bearer ${forged}` }, { 'x-api-key': 'sgk_acme_x' }, {}]) {
    const line = await lineOf(headers)
    t.notOk('tenant' in line || 'user' in line)
    t.type(line['detail'], 'string')
  }
})

t.test('the bytes of the problem document', async (t) => {
  const { body } = await client.send('GET', '/v1/me')
  t.equal(world.log().findLast(({ msg }) => msg === 'request')?.['bytes_out'], Buffer.byteLength(body))
  await client.send('HEAD', '/v1/me')
  t.equal(world.log().findLast(({ msg }) => msg === 'request')?.['bytes_out'], 0)
})

t.test('the detail of a refusal by Seats', async (t) => {
  const line = await lineOf(
    { authorization: `Bearer ${await world.token([], { sub: 'bob' })}`, space: 'main' },
    '/v1/trainings',
  )
  t.match(line, { tenant: 'acme', user: 'bob', detail: 'The credential names no Seat in this space.' })
})

t.test('the client behind a trusted balancer, and the peer', async (t) => {
  const through = (forwarded: string) => lineOf({ 'x-forwarded-for': forwarded })
  t.match(await through('198.51.100.7, 203.0.113.9'), { client: '203.0.113.9', peer: '127.0.0.1' })
  t.match(await through('198.51.100.7, 127.0.0.1'), { client: '198.51.100.7', peer: '127.0.0.1' })
  t.match(await through('not an address'), { client: '127.0.0.1', peer: '127.0.0.1' })
  t.match(await lineOf({}), { client: '127.0.0.1', peer: '127.0.0.1' })
})
