/**
 * Tokens of another issuer (`issuers`): algorithm confusion between the tenant's secret and the issuer's public key,
 * keys that the token brings, and everything else that must not pass as a token of the issuer.
 */

import { createHmac, createPublicKey, generateKeyPairSync, KeyObject, sign as signBytes } from 'node:crypto'
import { exportJWK, type JWK } from 'jose'
import t from 'tap'
import { HostileProvider } from '../oidc/hostile-provider.ts'
import { env, startWorld } from '../support/world.ts'

const AUDIENCE = 'https://gw.example'

const issuer = await HostileProvider.start(t)
// Kubernetes and CIs have no other endpoints.
issuer.metadata = { authorization_endpoint: undefined, token_endpoint: undefined }
const entry = {
  issuer: issuer.issuer,
  audience: AUDIENCE,
  seats: ['Deployer'],
  match: { 'kubernetes.io.namespace': 'ci', groups: 'deployers' },
  allow_insecure: true,
}
const world = await startWorld(t, { acme: [`issuers: ${JSON.stringify([entry])}`] })
const seat = await world.seat('Deployer', ['main'], ['trainings:list'])

type Members = Readonly<Record<string, unknown>>

const seconds = () => Math.floor(Date.now() / 1000)

function claims(more: Members = {}): Members {
  const now = seconds()
  return {
    iss: issuer.issuer,
    aud: AUDIENCE,
    sub: 'system:serviceaccount:ci:deployer',
    iat: now,
    exp: now + 600,
    'kubernetes.io': { namespace: 'ci' },
    groups: ['readers', 'deployers'],
    ...more,
  }
}

const base64url = (text: string | Uint8Array) => Buffer.from(text).toString('base64url')

interface Parts {
  readonly header?: Members | string
  readonly payload?: Members | string
  readonly sign?: (input: string) => Uint8Array
}

function issuerKey(): KeyObject {
  if (issuer.key === null) throw new Error('no key')
  return KeyObject.from(issuer.key)
}

const es256 = (key: KeyObject) => (input: string) =>
  signBytes('sha256', Buffer.from(input), { key, dsaEncoding: 'ieee-p1363' })
const hmac =
  (secret: string | Buffer, hash = 'sha256') =>
  (input: string) =>
    createHmac(hash, secret).update(input).digest()

/** As text, so that a header or payload may be no JSON that a library writes. */
function token({ header = {}, payload = claims(), sign }: Parts = {}): string {
  const text = (part: Members | string) => (typeof part === 'string' ? part : JSON.stringify(part))
  const parameters = typeof header === 'string' ? header : { alg: 'ES256', kid: 'first', ...header }
  const input = `${base64url(text(parameters))}.${base64url(text(payload))}`
  return `${input}.${base64url((sign ?? es256(issuerKey()))(input))}`
}

function ask(bearer: string, path = '/v1/trainings', more: Record<string, string> = { space: 'main' }) {
  return world.client.send('GET', path, { authorization: `Bearer ${bearer}`, ...more })
}

async function codeOf(bearer: string): Promise<unknown> {
  const { status, json } = await ask(bearer)
  return status === 200 ? 200 : json.code
}

t.test('a token of the issuer', async (t) => {
  t.equal(await codeOf(token()), 200)
  const headers = world.upstream.seen.at(-1)?.headers
  t.match(headers, {
    'x-seatgate-auth': 'issuer',
    'x-seatgate-tenant': 'acme',
    'x-seatgate-user': `${issuer.issuer}|system:serviceaccount:ci:deployer`,
    'x-seatgate-seats': 'Deployer',
  })
  t.notOk('authorization' in (headers ?? {}))
  t.equal(await codeOf(token({ payload: claims({ aud: ['other', AUDIENCE] }) })), 200, 'a list')
  t.equal((await ask(token(), '/v1/trainings', { space: 'other' })).json.code, 'no_seat_in_space')
  const line = world.log().findLast(({ auth }) => auth === 'issuer')
  t.equal(line?.user, `${issuer.issuer}|system:serviceaccount:ci:deployer`)
})

t.test('its Seats are as they are now', async (t) => {
  await world.admin('PUT', `/v1/seats/${seat}`, { permissions: ['trainings:read'] })
  t.equal(await codeOf(token()), 'permission_denied')
  await world.admin('PUT', `/v1/seats/${seat}`, { permissions: ['trainings:list'] })
  t.equal(await codeOf(token()), 200)
})

t.test('the secret of the tenant signs for no issuer', async (t) => {
  const secret = env.ACME_SECRET
  t.equal((await ask(await world.token([]), '/v1/me')).status, 200, "the gateway's own token passes")
  const own = { sub: 'alice', exp: seconds() + 600, tenant_id: 'acme', hash_perm: ['main:Deployer'] }
  const signed = (payload: Members, header: Members = {}) =>
    token({ header: { alg: 'HS256', kid: undefined, ...header }, payload, sign: hmac(secret) })
  t.equal(await codeOf(signed(own)), 200, 'without iss')
  t.equal(
    await codeOf(signed({ ...own, iss: 'https://elsewhere.example' })),
    200,
    'with the iss of no issuer',
  )
  t.equal(await codeOf(signed({ ...own, iss: issuer.issuer })), 'token_invalid')
  t.equal(await codeOf(signed(claims({ tenant_id: 'acme', hash_perm: ['main:Deployer'] }))), 'token_invalid')
  const globex = token({
    header: { alg: 'HS256', kid: undefined },
    payload: claims({ tenant_id: 'globex' }),
    sign: hmac(env.GLOBEX_SECRET),
  })
  t.equal((await ask(globex, '/v1/me')).json.code, 'token_invalid', 'of another tenant')
  for (const alg of ['ES256', 'RS256', 'EdDSA', 'none'])
    t.equal(await codeOf(signed(claims(), { alg, kid: 'first' })), 'token_invalid', alg)
})

t.test('the public key of the issuer is no secret', async (t) => {
  const publicKey = createPublicKey(issuerKey())
  const forms: (string | Buffer)[] = [
    publicKey.export({ type: 'spki', format: 'pem' }),
    publicKey.export({ type: 'spki', format: 'der' }),
    JSON.stringify(issuer.keys[0]),
    JSON.stringify({ keys: issuer.keys }),
    Buffer.from(issuer.keys[0]?.x ?? '', 'base64url'),
    '',
  ]
  for (const [hash, alg] of [
    ['sha256', 'HS256'],
    ['sha384', 'HS384'],
    ['sha512', 'HS512'],
  ] as const)
    for (const form of forms)
      for (const kid of ['first', undefined]) {
        const forged = token({ header: { alg, kid }, sign: hmac(form, hash) })
        t.equal(await codeOf(forged), 'token_invalid', `${alg} ${kid}`)
      }
})

t.test('a symmetric key in the key set verifies nothing', async (t) => {
  const before = [...issuer.keys]
  const k = base64url(Buffer.alloc(32, 1))
  issuer.keys.push({ kty: 'oct', k, kid: 'oct', alg: 'HS256' }, { kty: 'oct', k, kid: 'oct2' })
  for (const kid of ['oct', 'oct2'])
    for (const alg of ['HS256', 'ES256'])
      t.equal(await codeOf(token({ header: { alg, kid }, sign: hmac(Buffer.alloc(32, 1)) })), 'token_invalid')
  issuer.keys = before
})

t.test('no signature', async (t) => {
  for (const alg of ['none', 'None', 'NONE', 'nOnE', '', 'null', ' none'])
    for (const kid of ['first', undefined])
      t.equal(
        await codeOf(token({ header: { alg, kid }, sign: () => Buffer.alloc(0) })),
        'token_invalid',
        alg,
      )
  t.equal(await codeOf(token({ sign: () => Buffer.alloc(0) })), 'token_invalid')
  t.equal(await codeOf(token({ sign: () => Buffer.alloc(64) })), 'token_invalid', 'CVE-2022-21449')
})

t.test('a key that the token brings or names', async (t) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const own: JWK = { ...(await exportJWK(publicKey)), kid: 'own', alg: 'ES256' }
  const elsewhere = await HostileProvider.start(t)
  elsewhere.keys = [{ ...own, kid: 'first' }, own]
  const url = `${elsewhere.issuer}/jwks`
  const brought: Members[] = [
    { jwk: own },
    { jku: url },
    { x5u: url },
    { jwk: own, jku: url, kid: 'own' },
    { jku: url, kid: 'own' },
    { kid: '../../jwks' },
    { kid: url },
    { kid: '' },
    { kid: "' or 1=1" },
    { x5c: [base64url('x')] },
  ]
  for (const header of brought)
    t.equal(await codeOf(token({ header, sign: es256(privateKey) })), 'token_invalid', JSON.stringify(header))
  t.equal(elsewhere.requestCounts.size, 0, 'no address of a token is asked')
  t.equal(await codeOf(token({ header: { kid: undefined }, sign: es256(privateKey) })), 'token_invalid')
})

t.test('another signer', async (t) => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  t.equal(await codeOf(token({ sign: es256(privateKey) })), 'token_invalid')
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const rs256 = (input: string) => signBytes('sha256', Buffer.from(input), rsa.privateKey)
  for (const kid of ['first', undefined])
    t.equal(await codeOf(token({ header: { alg: 'RS256', kid }, sign: rs256 })), 'token_invalid')
  const [header, payload] = token().split('.')
  const [, , signature] = token({ payload: claims({ sub: 'system:serviceaccount:ci:other' }) }).split('.')
  t.equal(
    await codeOf(`${header}.${payload}.${signature}`),
    'token_invalid',
    'the signature of another token',
  )
})

t.test('headers and payloads that could be read in two ways', async (t) => {
  const payload = JSON.stringify(claims())
  const texts: Parts[] = [
    { header: { crit: ['exp'] } },
    { header: { crit: [] } },
    { header: { b64: false } },
    { header: { zip: 'DEF' } },
    { header: '{"alg":"none","alg":"ES256","kid":"first"}' },
    { header: '{"alg":"ES256","kid":"x","kid":"first"}' },
    { payload: `{"sub":"root",${payload.slice(1)}` },
    { payload: `{"aud":"other",${payload.slice(1)}` },
    { payload: `{"iss":"https://other.example",${payload.slice(1)}` },
    { payload: `[${payload}]` },
    { payload: `\uFEFF${payload}` },
    { header: { typ: 'logout+jwt' } },
    { header: { typ: 'dpop+jwt' } },
    { payload: claims({ cnf: { jkt: 'x' } }) },
    { payload: claims({ events: {} }) },
  ]
  for (const parts of texts) t.equal(await codeOf(token(parts)), 'token_invalid', JSON.stringify(parts))
  const good = token()
  for (const text of [`${good}=`, `${good}.`, `.${good}`, good.replace('.', '..'), good.slice(0, -1)])
    t.equal(await codeOf(text), 'token_invalid', text.slice(-4))
})

t.test('times', async (t) => {
  const now = seconds()
  const cases: [Members, string][] = [
    [{ exp: now - 61, iat: now - 600 }, 'token_expired'],
    [{ nbf: now + 120 }, 'token_not_yet_valid'],
    [{ iat: now + 120, exp: now + 600 }, 'token_not_yet_valid'],
    [{ exp: undefined }, 'token_invalid'],
    [{ iat: undefined }, 'token_invalid'],
    [{ exp: String(now + 600) }, 'token_invalid'],
    [{ nbf: null }, 'token_invalid'],
    [{ iat: now, exp: now + 3601 }, 'token_invalid'],
    [{ iat: now - 86_400 }, 'token_invalid'],
  ]
  for (const [more, code] of cases)
    t.equal(await codeOf(token({ payload: claims(more) })), code, JSON.stringify(more))
  t.equal(await codeOf(token({ payload: claims({ iat: now, exp: now + 3600 }) })), 200, 'max_lifetime')
  const huge = JSON.stringify(claims()).replace(/"exp":\d+/, '"exp":1e400')
  t.equal(await codeOf(token({ payload: huge })), 'token_invalid')
})

t.test('issuer, audience, claims and user', async (t) => {
  const cases: Members[] = [
    { aud: undefined },
    { aud: `${AUDIENCE}/` },
    { aud: 'https://gw.example.evil' },
    { aud: [] },
    { aud: ['other'] },
    { aud: [AUDIENCE, 1] },
    { aud: [[AUDIENCE]] },
    { aud: { 0: AUDIENCE, length: 1 } },
    { iss: `${issuer.issuer}/` },
    { iss: [issuer.issuer] },
    { iss: issuer.issuer.replace('http:', 'HTTP:') },
    { 'kubernetes.io': { namespace: 'prod' } },
    { 'kubernetes.io': { namespace: 'ci ' } },
    { 'kubernetes.io': undefined },
    { 'kubernetes.io': undefined, kubernetes: { io: undefined } },
    { groups: 'deployers-of-others' },
    { groups: [['deployers']] },
    { groups: { deployers: true } },
    { sub: undefined },
    { sub: '' },
    { sub: 5 },
    { sub: 'a\nb' },
    { sub: 'x'.repeat(256) },
  ]
  for (const more of cases)
    t.equal(await codeOf(token({ payload: claims(more) })), 'token_invalid', JSON.stringify(more))
  t.equal(await codeOf(token({ payload: claims({ groups: 'deployers' }) })), 200)
  const line = world.log().find(({ detail }) => /kubernetes\.io\.namespace/.test(String(detail)))
  const user = `${issuer.issuer}|system:serviceaccount:ci:deployer`
  t.match(line, { code: 'token_invalid', tenant: 'acme', user })
})

t.test('a blocked user', async (t) => {
  const sub = `${issuer.issuer}|system:serviceaccount:ci:blocked`
  const bearer = token({ payload: claims({ sub: 'system:serviceaccount:ci:blocked' }) })
  t.equal(await codeOf(bearer), 200)
  const made = await world.admin('POST', '/v1/blocks', { user: sub, reason: 'leaked' })
  t.equal(made.status, 200, made.body)
  t.equal(await codeOf(bearer), 'caller_blocked')
  t.equal(await codeOf(token()), 200, 'other users of the issuer')
})

t.test('what a token of the issuer does is recorded with its user', async (t) => {
  await world.seat('Administrator', ['admin'], ['*'])
  await world.admin('PUT', `/v1/seats/${seat}`, { spaces: ['main', 'admin'], permissions: ['*'] })
  const made = await world.client.send(
    'POST',
    '/v1/seats',
    { authorization: `Bearer ${token()}`, space: 'admin', 'content-type': 'application/json' },
    JSON.stringify({ name: 'Made', spaces: ['main'], permissions: ['trainings:list'] }),
  )
  t.equal(made.json.created_by, `${issuer.issuer}|system:serviceaccount:ci:deployer`)
  const audit = await world.admin('GET', '/v1/audit?limit=1')
  t.match(audit.body, `${issuer.issuer}|system:serviceaccount:ci:deployer`)
})

t.test('there is no sign-in for it', async (t) => {
  t.equal((await world.client.send('POST', '/auth/oidc/login')).status, 404)
})
