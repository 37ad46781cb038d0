/** GHSA-qvp4-rpmr-xwrr (claims not checked on a hit), CVE-2026-33496, CVE-2026-71326 (keys that collide). */

import t from 'tap'
import { BearerTokens } from '../../../src/decision/authn/bearer.ts'
import { DEFAULT_MEMORY } from '../../support/default-settings.ts'
import { Refusal } from '../../../src/model/errors.ts'
import {
  acme,
  authenticator,
  claims,
  credentials,
  NOW,
  resultOf,
  SECOND,
  secrets,
  sign,
  tenant,
  tenants,
} from './support.ts'

const line = (token: string) => ({ authorization: [`Bearer ${token}`] })

/** Bytes; at least the weight of one test token, and less than twice that. */
const TOKEN = 2500

/** An authenticator with a settable clock. @param tokens the number of tokens that fit into the cache */
function withClock(tokens = 1000) {
  const clock = { now: NOW }
  const memory = { ...DEFAULT_MEMORY, tokens: tokens * TOKEN }
  return { clock, authn: authenticator({ now: () => clock.now, memory }) }
}

t.test('a verified token is accepted synchronously, with the same Principal', async (t) => {
  const { authn } = withClock()
  const given = credentials(line(sign()))
  const first = authn.authenticate(given)
  t.match(first, { user: 'alice' })
  t.equal(authn.authenticate(given), first)
})

t.test('exp is checked again on a hit', async (t) => {
  const { clock, authn } = withClock()
  const token = sign({ ...claims, exp: SECOND + 60 })
  t.match(await resultOf(authn, line(token)), { user: 'alice' })
  clock.now = (SECOND + 60) * 1000 - 1
  t.match(await resultOf(authn, line(token)), { user: 'alice' })
  clock.now++
  t.equal(await resultOf(authn, line(token)), 'token_expired')
  t.equal(await resultOf(authn, line(token)), 'token_expired', 'on the next hit too')
  clock.now = NOW
  t.match(await resultOf(authn, line(token)), { user: 'alice' }, 'the clock moves back')
})

t.test('nbf and iat are checked again on a hit', async (t) => {
  const { clock, authn } = withClock()
  const token = sign()
  t.match(await resultOf(authn, line(token)), { user: 'alice' })
  clock.now = SECOND * 1000 - 1
  t.equal(await resultOf(authn, line(token)), 'token_not_yet_valid')
  clock.now = NOW
  t.match(await resultOf(authn, line(token)), { user: 'alice' })
})

t.test('a token that becomes valid is accepted: refusals are not cached', async (t) => {
  const { clock, authn } = withClock()
  const token = sign({ ...claims, nbf: SECOND + 60 })
  t.equal(await resultOf(authn, line(token)), 'token_not_yet_valid')
  clock.now += 60_000
  t.match(await resultOf(authn, line(token)), { user: 'alice' })
})

t.test('a hit needs the whole token', async (t) => {
  const { authn } = withClock()
  const token = sign()
  await resultOf(authn, line(token))
  const [header, payload, signature = ''] = token.split('.')
  for (const other of [
    `${header}.${payload}.`,
    `${header}.${payload}.${signature.slice(0, -1)}`,
    `${header}.${payload}.${signature}A`,
    `${header}.${payload}.${signature.toLowerCase()}`,
    `${token} `,
    ` ${token} `,
    `${header}.${sign({ ...claims, sub: 'bob' }).split('.')[1]}.${signature}`,
  ])
    t.equal(await resultOf(authn, line(other)), 'token_invalid', other.slice(-12))
})

t.test(
  'concurrent requests with one new token get one Principal; with an invalid one all are refused',
  async (t) => {
    const { authn } = withClock()
    const given = line(sign())
    const all = await Promise.all(Array.from({ length: 50 }, () => resultOf(authn, given)))
    t.equal(new Set(all).size, 1)
    t.match(all[0], { user: 'alice' })
    const forged = line(sign(claims, { secret: secrets.globex }))
    const refused = await Promise.all(Array.from({ length: 50 }, () => resultOf(authn, forged)))
    t.same(new Set(refused), new Set(['token_invalid']))
  },
)

t.test('concurrent verifications do not mix', async (t) => {
  const { authn } = withClock()
  const names = Array.from({ length: 200 }, (_, at) => `user-${at}`)
  const all = await Promise.all(
    names.flatMap((sub) => [
      resultOf(authn, line(sign({ ...claims, sub }))),
      resultOf(authn, line(sign({ ...claims, sub }, { secret: secrets.globex }))),
    ]),
  )
  t.same(
    all.map((each) => (typeof each === 'string' ? each : each.user)),
    names.flatMap((sub) => [sub, 'token_invalid']),
  )
})

t.test('the cache is bounded, and evicts the least recently used token', async (t) => {
  const { authn } = withClock(2)
  const [a, b, c] = ['a', 'b', 'c'].map((sub) => credentials(line(sign({ ...claims, sub }))))
  t.ok(a && b && c)
  if (!a || !b || !c) return
  const ask = (given: typeof a) => authn.authenticate(given)
  const [first, second] = [ask(a), ask(b)]
  t.equal(ask(a), first)
  const third = ask(c)
  t.equal(ask(a), first, 'used since')
  t.equal(ask(c), third)
  const again = ask(b)
  t.not(again, second, 'evicted')
  t.match(again, { user: 'b' })
  t.equal(ask(b), again, 'cached again')
})

t.test('invalid tokens evict no valid ones', async (t) => {
  const { clock, authn } = withClock(1)
  const good = credentials(line(sign()))
  const first = authn.authenticate(good)
  for (let at = 0; at < 20; at++) {
    await resultOf(authn, line(sign({ ...claims, at }, { secret: secrets.globex })))
    await resultOf(authn, line(sign({ ...claims, at, sub: '' })))
    await resultOf(authn, line(sign({ ...claims, at, exp: SECOND })))
    await resultOf(authn, line(sign({ ...claims, at, nbf: SECOND + 60 })))
    await resultOf(authn, line(`${at}.a.b`))
  }
  t.equal(authn.authenticate(good), first)
  clock.now += 1
  t.match(authn.authenticate(good), { user: 'alice' })
})

t.test('repeated credentials', async (t) => {
  const { clock, authn } = withClock()
  const token = sign({ ...claims, exp: SECOND + 60 })
  const [one, two, spelled] = [
    credentials(line(token)),
    credentials(line(token)),
    credentials({ authorization: [`bearer ${token}`] }),
  ]
  const first = authn.authenticate(one)
  for (let i = 0; i < 3; i++) for (const each of [one, two, spelled]) t.equal(authn.authenticate(each), first)
  const twice = credentials({ authorization: [`Bearer ${token}`, 'Basic a'] })
  for (let i = 0; i < 3; i++) t.match(authn.authenticate(twice), { code: 'credentials_ambiguous' })
  const none = credentials({ cookie: ['a=b'] })
  for (let i = 0; i < 3; i++) t.match(authn.authenticate(none), { code: 'credentials_missing' })
  const others = authenticator({ tenants: tenants(tenant('acme', { secrets: [secrets.acmeOld] })) })
  for (const each of [one, two, spelled])
    t.match(
      await others.authenticate(each),
      { code: 'token_invalid' },
      'another configuration has its own cache',
    )
  clock.now = (SECOND + 60) * 1000
  for (let i = 0; i < 2; i++)
    for (const each of [one, two, spelled]) t.match(authn.authenticate(each), { code: 'token_expired' })
})

t.test('one token in many spellings of its header line evicts no others', async (t) => {
  const { authn } = withClock(2)
  const other = credentials(line(sign({ ...claims, sub: 'other' })))
  const token = sign()
  const known = authn.authenticate(other)
  const first = authn.authenticate(credentials(line(token)))
  const spaces = Array.from({ length: 50 }, (_, i) => `Bearer ${' '.repeat(i)}${token}`)
  for (const spelling of [`bearer ${token}`, `BEARER  ${token}`, ...spaces])
    t.equal(authn.authenticate(credentials({ authorization: [spelling] })), first)
  t.equal(authn.authenticate(other), known)
})

t.test('a changed secret applies at once: the cache belongs to the configuration', async (t) => {
  const token = sign()
  t.match(await resultOf(authenticator(), line(token)), { user: 'alice' })
  const rotated = authenticator({ tenants: tenants(tenant('acme', { secrets: [secrets.acmeOld] })) })
  t.equal(await resultOf(rotated, line(token)), 'token_invalid')
})

t.test('an internal fault is no refusal, and is not cached', async (t) => {
  // A secret that cannot be a key makes verification itself fail, as a broken crypto library does.
  const broken = { ...acme, token: { ...acme.token, secrets: [null as unknown as Uint8Array] } }
  const authn = new BearerTokens({
    tenants: tenants(broken),
    defaultTenant: null,
    now: () => NOW,
    memory: 2 ** 24,
  })
  const token = sign()
  for (let at = 0; at < 2; at++) t.throws(() => authn.authenticate(`Bearer ${token}`), TypeError)
})

t.test('cached values are frozen', async (t) => {
  const principal = await authenticator().authenticate(credentials(line(sign())))
  t.notOk(principal instanceof Refusal)
  t.ok(Object.isFrozen(principal))
  t.ok(!(principal instanceof Refusal) && Object.isFrozen(principal.claims))
})

t.test('a token of another issuer is verified again once its time in the cache is over', async (t) => {
  const payload = { ...claims, iss: 'https://other.example' }
  const own = await authenticator().authenticate(credentials(line(sign())))
  t.notOk(own instanceof Refusal)
  if (own instanceof Refusal) return
  for (const [cacheFor, verifications] of [
    [0, 3],
    [3_600_000, 1],
  ] as const) {
    let count = 0
    const token = sign(payload, { secret: secrets.globex })
    const verified = { principal: own, expiresAt: Infinity, validFrom: 0, leeway: 0, cacheFor }
    const otherIssuer = async () => {
      count++
      return verified
    }
    const authn = authenticator({ otherIssuer })
    for (let i = 0; i < 3; i++) t.equal(await authn.authenticate(credentials(line(token))), own)
    t.equal(count, verifications, `cached for ${cacheFor} ms`)
  }
})
