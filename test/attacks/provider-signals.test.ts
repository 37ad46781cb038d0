/**
 * An attacker sends requests in the name of an identity provider: to sign users out, to block them, or to lift their
 * blocks. Each request is refused, whatever it copies of a real one, and uses nothing up.
 */

import { createHmac, createPublicKey, randomUUID } from 'node:crypto'
import { type CryptoKey, exportJWK, exportSPKI, generateKeyPair, importJWK } from 'jose'
import t from 'tap'
import { type Claims, HostileProvider } from '../oidc/hostile-provider.ts'
import { freshWorld, stored } from '../oidc/world.ts'
import { outcome } from '../revocations/support.ts'
import { RawClient } from '../support/raw-client.ts'
import { EVENTS, pushed } from '../support/transmitter.ts'

const AUDIENCE = 'https://gw.example'
const events = { audience: AUDIENCE, issuer: null, jwksUri: null, authorization: null }
const world = await freshWorld()
const provider = await HostileProvider.start(t)
await provider.takes(world, { acme: { revocation: true, events } })
const GTR = '/auth/oidc/global-token-revocation/acme'
const SSF = '/auth/ssf/acme'
const now = Math.floor(Date.now() / 1000)
const subject = { format: 'iss_sub', iss: provider.issuer, sub: 'alice' }

/** The two ways to reach the same revocation. */
const DOORS = {
  'Global Token Revocation': {
    claims: (more: Claims = {}): Claims => ({
      ...{ iss: provider.issuer, aud: world.origin + GTR, jti: randomUUID(), iat: now, exp: now + 300 },
      ...more,
    }),
    typ: 'global-token-revocation+jwt',
    ok: 204,
    send: async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await world.visitor().postJson(world.origin + GTR, { sub_id: subject }, headers)).status
    },
  },
  'Shared Signals': {
    claims: (more: Claims = {}): Claims => ({
      ...{ iss: provider.issuer, aud: AUDIENCE, jti: randomUUID(), iat: now, sub_id: subject },
      ...{ events: { [EVENTS.sessionRevoked]: {} }, ...more },
    }),
    typ: 'secevent+jwt',
    ok: 202,
    send: async (token: string) => (await pushed(world.origin + SSF, token)).status,
  },
}

const encoded = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

/** A token of these texts, signed with ES256. */
async function signed(header: unknown, payload: unknown, key: CryptoKey): Promise<string> {
  const text = `${encoded(header)}.${encoded(payload)}`
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const signature = await crypto.subtle.sign(algorithm, key, Buffer.from(text))
  return `${text}.${Buffer.from(signature).toString('base64url')}`
}

const own = (): CryptoKey => {
  if (provider.key === null) throw new Error('the provider has no key')
  return provider.key
}
const attacker = await generateKeyPair('ES256', { extractable: true })
const attackerJwk = { ...(await exportJWK(attacker.publicKey)), alg: 'ES256', use: 'sig', kid: 'attacker' }
const [published] = provider.keys
if (published === undefined) throw new Error('the provider publishes no key')
const spki = await exportSPKI((await importJWK(published, 'ES256')) as CryptoKey)

for (const [name, { claims, typ, ok, send }] of Object.entries(DOORS)) {
  const header = { alg: 'ES256', typ, kid: 'first' }
  const hmac = (secret: string | Buffer) => {
    const text = `${encoded({ ...header, alg: 'HS256' })}.${encoded(claims())}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  const unsigned = (alg: string) => `${encoded({ typ, alg })}.${encoded(claims())}.`
  const attacks: [name: string, make: () => string | Promise<string>][] = [
    ['alg none', () => unsigned('none')],
    ['alg None', () => unsigned('None')],
    ['no alg', () => `${encoded({ typ })}.${encoded(claims())}.`],
    ['HS256 with the public key as PEM', () => hmac(spki)],
    [
      'HS256 with the public key in DER',
      () => hmac(createPublicKey(spki).export({ type: 'spki', format: 'der' })),
    ],
    ['HS256 with the public key as JWK', () => hmac(JSON.stringify(published))],
    ['HS256 with an empty secret', () => hmac('')],
    ['a key in the header', () => signed({ ...header, jwk: attackerJwk }, claims(), attacker.privateKey)],
    [
      'an address of keys in the header',
      () => signed({ ...header, jku: 'http://127.0.0.1:1/keys' }, claims(), attacker.privateKey),
    ],
    [
      'an x5u in the header',
      () => signed({ ...header, x5u: 'http://127.0.0.1:1/' }, claims(), attacker.privateKey),
    ],
    ['another key under the same name', () => signed(header, claims(), attacker.privateKey)],
    ['an unknown key', () => signed({ ...header, kid: 'attacker' }, claims(), attacker.privateKey)],
    ['crit', () => signed({ ...header, crit: ['b64'], b64: true }, claims(), own())],
    ['an empty crit', () => signed({ ...header, crit: [] }, claims(), own())],
    ['zip', () => signed({ ...header, zip: 'DEF' }, claims(), own())],
    [
      'a member of the header twice',
      () => signed(`{"alg":"none","alg":"ES256","typ":"${typ}"}`, claims(), own()),
    ],
    [
      'the issuer twice',
      () => signed(header, JSON.stringify(claims()).replace('{', '{"iss":"https://evil.example",'), own()),
    ],
    [
      'the issuer twice, escaped',
      () => signed(header, JSON.stringify(claims()).replace('{', '{"\\u0069ss":"x",'), own()),
    ],
    [
      'deep nesting',
      () =>
        signed(
          header,
          JSON.stringify(claims()).replace('{', `{"x":${'['.repeat(5000)}${']'.repeat(5000)},`),
          own(),
        ),
    ],
    ['a payload that is a list', () => signed(header, [claims()], own())],
    ['a payload that is no JSON', () => signed(header, 'x', own())],
    [
      'a changed payload',
      async () => (await signed(header, claims(), own())).replace(/\.[^.]+\./, `.${encoded(claims())}.`),
    ],
    ['padding', async () => `${await signed(header, claims(), own())}=`],
    ['a part more', async () => `${await signed(header, claims(), own())}.${encoded('x')}`],
    ['the JSON serialization', async () => JSON.stringify({ payload: encoded(claims()), signatures: [] })],
    ['times as texts', () => signed(header, claims({ iat: `${now}`, exp: `${now + 300}` }), own())],
    [
      'endless times',
      () => signed(header, JSON.stringify(claims()).replace(`"iat":${now}`, '"iat":1e400'), own()),
    ],
    ['a jti that is no text', () => signed(header, claims({ jti: 7 }), own())],
    ['an audience in a list of a list', () => signed(header, claims({ aud: [[claims().aud]] }), own())],
    [
      'a slash more in the audience',
      () => signed(header, claims({ aud: `${String(claims().aud)}/` }), own()),
    ],
    [
      'an audience in upper case',
      () => signed(header, claims({ aud: String(claims().aud).toUpperCase() }), own()),
    ],
    ['the issuer as the audience', () => signed(header, claims({ aud: provider.issuer }), own())],
    ['an ID token', () => signed({ ...header, typ: 'JWT' }, provider.claims({ sub: 'alice' }), own())],
    [
      'a logout token',
      () =>
        signed(
          { ...header, typ: 'logout+jwt' },
          claims({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} }, sub: 'alice' }),
          own(),
        ),
    ],
  ]
  for (const [attack, make] of attacks)
    t.test(`${name}: ${attack}`, async (t) => {
      const token = String((await provider.signIn(world, { sub: 'alice' })).json.access_token)
      const before = stored(world, 'SELECT count(*) AS count FROM provider_logouts')
      const status = await send(await make())
      t.ok([400, 401, 413].includes(status), String(status))
      t.equal(outcome(await world.visitor().ask('/v1/me', { token })), 'allow')
      t.same(stored(world, 'SELECT count(*) AS count FROM provider_logouts'), before)
    })

  t.test(`${name}: the real one is accepted`, async (t) => {
    const token = String((await provider.signIn(world, { sub: 'alice' })).json.access_token)
    t.equal(await send(await signed(header, claims(), own())), ok)
    t.equal(outcome(await world.visitor().ask('/v1/me', { token })), '401 token_revoked')
  })
}

t.test('Host, X-Forwarded-Host and Forwarded change nothing of the audience', async (t) => {
  const token = String((await provider.signIn(world, { sub: 'alice' })).json.access_token)
  const { claims, typ } = DOORS['Global Token Revocation']
  const header = { alg: 'ES256', typ, kid: 'first' }
  const port = Number(new URL(world.origin).port)
  const body = JSON.stringify({ sub_id: subject })
  const send = async (aud: string, lines: readonly string[]) => {
    const jwt = await signed(header, claims({ aud }), own())
    const fields = [
      ...lines,
      `Authorization: Bearer ${jwt}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    const client = new RawClient(port)
    t.teardown(() => client.socket.destroy())
    const { all } = await client
      .send(`POST ${GTR} HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n${body}`)
      .responses(1)
    return all[0]?.status
  }
  const evil = 'http://evil.example'
  for (const lines of [
    ['Host: evil.example'],
    ['Host: evil.example', 'X-Forwarded-Proto: http'],
    [`Host: 127.0.0.1:${port}`, 'X-Forwarded-Host: evil.example'],
    [`Host: 127.0.0.1:${port}`, 'Forwarded: host=evil.example;proto=http'],
  ])
    t.equal(await send(evil + GTR, lines), 401, lines.join())
  t.equal(outcome(await world.visitor().ask('/v1/me', { token })), 'allow')
  t.equal(await send(world.origin + GTR, ['Host: evil.example']), 204, 'the configured address counts')
  t.equal(outcome(await world.visitor().ask('/v1/me', { token })), '401 token_revoked')
})

t.test('with HS256, the secret of the client signs no request', async (t) => {
  const clientSecret = 'a secret of at least thirty-two bytes'
  await provider.takes(world, {
    acme: {
      revocation: true,
      events,
      idTokenSigningAlg: 'HS256',
      clientSecret,
      clientAuth: 'client_secret_basic',
    },
  })
  for (const { claims, typ, send, ok } of Object.values(DOORS)) {
    const text = `${encoded({ alg: 'HS256', typ })}.${encoded(claims())}`
    t.ok(
      [400, 401].includes(
        await send(`${text}.${createHmac('sha256', clientSecret).update(text).digest('base64url')}`),
      ),
    )
    t.equal(await send(await signed({ alg: 'ES256', typ, kid: 'first' }, claims(), own())), ok, 'its keys do')
  }
})

t.test('a flood of forged tokens holds up neither sign-ins nor the real one', async (t) => {
  await provider.takes(world, { acme: { revocation: true, events } })
  const { claims, typ, send } = DOORS['Shared Signals']
  const header = { alg: 'ES256', typ, kid: 'first' }
  const keys = () => provider.requestCounts.get('/jwks') ?? 0
  const token = String((await provider.signIn(world, { sub: 'alice' })).json.access_token)
  await send(await signed(header, claims(), own()))
  const before = keys()
  const forged = await Promise.all(
    Array.from({ length: 200 }, () =>
      signed({ ...header, kid: randomUUID() }, claims(), attacker.privateKey),
    ),
  )
  const flood = Promise.all(forged.map(send))
  t.equal((await provider.signIn(world, { sub: 'bob' })).status, 200)
  const statuses = await flood
  t.ok(
    statuses.every((status) => status === 400 || status === 503),
    'refused, or sent away',
  )
  t.ok(keys() - before <= 4, `${keys() - before} reads of keys`)
  t.equal(await send(await signed(header, claims(), own())), 202)
  t.equal(outcome(await world.visitor().ask('/v1/me', { token })), '401 token_revoked')
})
