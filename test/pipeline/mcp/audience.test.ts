/**
 * Tokens of other issuers at an MCP server: their audience is the resource (RFC 8707), and no server gets
 * them. It gets the signed identity.
 */

import { sign as signBytes, KeyObject } from 'node:crypto'
import t from 'tap'
import { HostileProvider } from '../../oidc/hostile-provider.ts'
import { HEADER, keyFile, verified } from '../../identity/support.ts'
import { RESOURCE, send, startMcp, tool } from './support.ts'

const issuer = await HostileProvider.start(t)
issuer.metadata = { authorization_endpoint: undefined, token_endpoint: undefined }
const AUDIENCE = 'https://gw.example'

function token(aud: string | readonly string[]): string {
  if (issuer.key === null) throw new Error('no key')
  const now = Math.floor(Date.now() / 1000)
  const claims = { iss: issuer.issuer, aud, sub: 'agent', iat: now, exp: now + 600 }
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const input = `${part({ alg: 'ES256', kid: 'first' })}.${part(claims)}`
  const key = KeyObject.from(issuer.key)
  const signature = signBytes('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
  return `${input}.${signature.toString('base64url')}`
}

const entry = { issuer: issuer.issuer, audience: AUDIENCE, seats: ['Reader'], allow_insecure: true }

t.test('the audience of a server is its resource', async (t) => {
  const world = await startMcp(t, {
    acme: [`issuers: ${JSON.stringify([entry])}`],
    beside: { name: 'plain', upstream: [], routes: ['GET /weather: weather:read'] },
  })
  const call = async (bearer: string) => (await send(world, tool('get_weather'), { token: bearer })).status
  const ask = async (bearer: string) =>
    (await world.client.send('GET', '/weather', { authorization: `Bearer ${bearer}`, space: 'main' })).status
  const [own, other, both] = [token(RESOURCE), token(AUDIENCE), token([AUDIENCE, RESOURCE])]
  // Twice, in both orders: a token that was accepted for one is in memory, and not accepted for the other.
  for (const _ of [1, 2]) {
    t.same([await call(own), await ask(own)], [200, 401])
    t.same([await ask(other), await call(other)], [200, 401])
    t.same([await call(both), await ask(both)], [200, 200])
  }
  t.equal(await call(token(`${RESOURCE}/`)), 401)
  t.equal(await call(token('https://gw.example/other')), 401)
  const reached = world.upstream.seen.map(({ headers }) => headers.authorization)
  t.ok(reached.length > 0 && reached.every((each) => each === undefined))
  t.equal(await call(await world.token(['main:Reader'])), 200, 'a token of the gateway has no audience')
})

t.test('the server gets the signed identity in place of the token', async (t) => {
  const world = await startMcp(t, {
    top: [`identity: { keys: [${keyFile(t)}] }`],
    answer: (_, response) =>
      void response
        .writeHead(200, { 'content-type': 'application/json' })
        .end('{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}'),
  })
  const keySet = (await world.client.send('GET', '/.well-known/seatgate/jwks.json')).body
  const bearer = await world.token(['main:Reader'])
  const fields = { 'X-Seatgate-JWT': 'eyJmb3JnZWQ.e30.', x_seatgate_jwt: 'eyJmb3JnZWQ.e30.' }
  for (const message of [tool('get_weather'), { method: 'tools/list' }]) {
    t.equal((await send(world, message, { token: bearer, fields })).status, 200)
    const reached = world.upstream.seen.at(-1)
    t.match(await verified(String(reached?.headers[HEADER]), keySet, 'main'), {
      sub: 'alice',
      tenant: 'acme',
    })
    t.notMatch(reached?.rawHeaders.join(), bearer)
  }
})
