/** The JWT for upstreams: what it says, that jose accepts it, and that one is sent again only for the very same claims. */

import { calculateJwkThumbprint, decodeJwt, decodeProtectedHeader } from 'jose'
import t from 'tap'
import {
  type Identified,
  SignedIdentity,
  type SignedIdentityOptions,
} from '../../src/identity/signed-identity.ts'
import { Lookups } from '../../src/model/cache-lookups.ts'
import type { ConsideredSeat } from '../../src/model/decision.ts'
import { ALICE } from '../proxy/support.ts'
import { HEADER, identified, identityConfig, newKey, verified } from './support.ts'

const MIB = 2 ** 20
const NOON = Date.UTC(2026, 10, 25, 12)

function signer(more: Partial<SignedIdentityOptions> = {}, config = identityConfig()) {
  return new SignedIdentity(config, { memory: 32 * MIB, ...more })
}

function tokenOf(identity: SignedIdentity, decision = identified(), audience = 'trainings'): string {
  const [name, value = ''] = identity.lineFor(audience, decision)?.pairs ?? []
  if (name !== identity.header) throw new Error(`the name is ${name}`)
  return value
}

for (const algorithm of ['ES256', 'EdDSA'] as const)
  t.test(`${algorithm}: header, claims and signature`, async (t) => {
    const identity = signer({ now: () => NOON + 999 }, identityConfig({ algorithm }))
    const token = tokenOf(identity)
    const claims = await verified(token, identity.keySet, 'trainings', new Date(NOON))
    const { jti, ...others } = claims
    t.strictSame(others, {
      iss: 'seatgate',
      aud: 'trainings',
      sub: 'alice',
      email: 'alice@acme.example',
      tenant: 'acme',
      auth: 'bearer',
      space: 'main',
      permission: 'trainings:read',
      seats: ['Viewer'],
      seats_count: 1,
      iat: NOON / 1000,
      exp: NOON / 1000 + 60,
    })
    t.match(jti, /^[\w-]{22}$/, '128 random bits')
    const [key] = JSON.parse(identity.keySet).keys
    t.strictSame(decodeProtectedHeader(token), { alg: algorithm, kid: key.kid, typ: 'seatgate+jwt' })
    t.equal(key.kid, await calculateJwkThumbprint(key), 'RFC 7638')
    t.strictSame([key.alg, key.use, 'd' in key], [algorithm, 'sig', false])
  })

t.test('refused: another audience, another key, expired, changed', async (t) => {
  const identity = signer({ now: () => NOON })
  const token = tokenOf(identity)
  const at = (ms: number) => new Date(NOON + ms)
  await verified(token, identity.keySet, 'trainings', at(59_000))
  await t.rejects(verified(token, identity.keySet, 'billing', at(0)), /"aud"/)
  await t.rejects(verified(token, identity.keySet, 'trainings', at(60_000)), /"exp"/)
  await t.rejects(verified(token, signer().keySet, 'trainings', at(0)), /no applicable key/)
  const [header, payload = '', signature] = token.split('.')
  const forged = Buffer.from(JSON.stringify({ ...decodeJwt(token), sub: 'root' })).toString('base64url')
  t.not(payload, forged)
  await t.rejects(
    verified(`${header}.${forged}.${signature}`, identity.keySet, 'trainings', at(0)),
    /signature/,
  )
})

t.test('what a route does not need is not said', async (t) => {
  const identity = signer()
  t.equal(identity.lineFor('trainings', identified({ permission: 'public', principal: null })), null)
  t.equal(identity.lineFor('trainings', identified({ permission: 'public' })), null)
  t.equal(identity.lineFor('trainings', identified({ permission: null })), null)
  const claims = decodeJwt(
    tokenOf(identity, identified({ permission: 'authenticated', space: 'main', seats: [] })),
  )
  t.strictSame(Object.keys(claims).toSorted(), [
    ...['aud', 'auth', 'email', 'exp', 'iat', 'iss', 'jti', 'sub', 'tenant'],
  ])
  const key = { ...ALICE, method: 'api-key', user: '01K', email: null } as const
  t.notOk('email' in decodeJwt(tokenOf(identity, identified({ principal: key }))))
})

t.test('only Seats that granted, within 2 KiB of names, and how many there are', async (t) => {
  const identity = signer()
  const seat = (name: string, verdict: ConsideredSeat['verdict'] = 'grants') => ({ name, id: '1', verdict })
  const some = [
    seat('A,B'),
    seat('Gone', 'unknown'),
    seat('Ж"\u{1F600}\u2028'),
    seat('No', 'lacks_permission'),
  ]
  t.strictSame(decodeJwt(tokenOf(identity, identified({ seats: some })))['seats'], [
    'A,B',
    'Ж"\u{1F600}\u2028',
  ])
  const many = Array.from({ length: 1000 }, (_, i) => seat(`Seat ${i} `.padEnd(100, 'x')))
  const token = tokenOf(identity, identified({ seats: many }))
  const { seats, seats_count: count } = decodeJwt(token)
  t.equal(count, 1000)
  t.strictSame(
    seats,
    many.slice(0, 19).map(({ name }) => name),
    'the first, as many as there is room for',
  )
  t.ok(token.length < 4096, `${token.length} characters`)
  const longest = [seat('\u{1F600}'.repeat(128))]
  t.strictSame(decodeJwt(tokenOf(identity, identified({ seats: longest })))['seats'], [longest[0]?.name])
})

t.test('signed once for equal claims, for half of the lifetime', async (t) => {
  let now = NOON + 500
  const lookups = new Lookups()
  const identity = signer({ now: () => now, lookups })
  const first = tokenOf(identity)
  now += 29_000
  t.equal(tokenOf(identity, identified({ seats: [{ name: 'Viewer', id: '2', verdict: 'grants' }] })), first)
  t.strictSame({ ...lookups }, { hits: 1, misses: 1 })
  now = NOON + 30_001
  const second = tokenOf(identity)
  t.not(second, first, 'less than half of its lifetime remains')
  t.not(decodeJwt(second).jti, decodeJwt(first).jti)
  now = NOON - 3_600_000
  const third = decodeJwt(tokenOf(identity))
  t.equal(third.iat, now / 1000, 'the clock was set back: none is from the future')
})

t.test('no two decisions share a token unless they say the same', async (t) => {
  const identity = signer({ now: () => NOON })
  const grants = (...names: string[]) => names.map((name) => ({ name, id: '1', verdict: 'grants' as const }))
  const caller = (more: object) => ({ principal: { ...ALICE, ...more } })
  const variants: readonly Partial<Identified>[] = [
    {},
    caller({ user: 'bob' }),
    caller({ tenant: 'globex' }),
    caller({ email: null }),
    caller({ email: '' }),
    caller({ email: 'alice@globex.example' }),
    caller({ method: 'session' }),
    caller({ user: 'alice","email":"alice@acme.example' }),
    { space: 'other' },
    { permission: 'trainings:list' },
    { permission: 'authenticated' },
    { seats: [] },
    { seats: grants('Viewer', 'Editor') },
    { seats: grants('Editor', 'Viewer') },
    { seats: grants('Viewer,Editor') },
    { seats: grants('Viewer","Editor') },
  ]
  const asked = variants.flatMap((more) =>
    ['trainings', 'billing'].map((name) => [name, identified(more)] as const),
  )
  const ask = () => asked.map(([name, decision]) => tokenOf(identity, decision, name))
  const tokens = ask()
  t.equal(new Set(tokens).size, asked.length)
  t.strictSame(ask(), tokens, 'each its own again')
  for (const [i, [name, { principal, space, seats }]] of asked.entries()) {
    const claims = decodeJwt(tokens[i] ?? '')
    t.strictSame([claims.aud, claims.sub, claims['tenant']], [name, principal?.user, principal?.tenant])
    if ('space' in claims)
      t.strictSame([claims['space'], claims['seats']], [space, seats.map((seat) => seat.name)])
  }
})

t.test('bounded memory, which tenants share', async (t) => {
  const lookups = new Lookups()
  const identity = signer({ memory: MIB, lookups, now: () => NOON })
  const of = (tenant: string, user: string) => identified({ principal: { ...ALICE, tenant, user } })
  const small = tokenOf(identity, of('small', 'alice'))
  for (let i = 0; i < 1500; i++) tokenOf(identity, of('large', `user-${i}`))
  lookups.hits = 0
  for (let i = 0; i < 1500; i++) tokenOf(identity, of('large', `user-${1499 - i}`))
  t.ok(lookups.hits > 100 && lookups.hits < 1400, `${lookups.hits} of 1500 are kept`)
  t.equal(tokenOf(identity, of('small', 'alice')), small, "another tenant's are kept")
})

t.test('all keys are published, the first signs', async (t) => {
  const [old, next] = [newKey(), newKey()]
  const kidOf = (token: string) => decodeProtectedHeader(token).kid
  const kidsOf = (keySet: string) => JSON.parse(keySet).keys.map(({ kid }: { kid: string }) => kid)
  const before = signer({}, identityConfig({ keys: [old, next] }))
  const after = signer({}, identityConfig({ keys: [next, old] }))
  t.strictSame(kidsOf(before.keySet), kidsOf(after.keySet).toReversed())
  t.equal(kidOf(tokenOf(before)), kidsOf(before.keySet)[0])
  await verified(tokenOf(before), after.keySet, 'trainings')
  await verified(tokenOf(after), before.keySet, 'trainings')
})

t.test('nothing of a private key is in what it shows', async (t) => {
  const key = newKey()
  const identity = signer({}, identityConfig({ keys: [key] }))
  tokenOf(identity)
  const { keySet, header } = identity
  t.equal(header, HEADER)
  t.notMatch(keySet, /"d"|PRIVATE/)
  t.throws(() => signer({}, identityConfig({ keys: [] })), /no key/)
  t.throws(() => signer({}, identityConfig({ algorithm: 'EdDSA', keys: ['nothing'] })))
})
