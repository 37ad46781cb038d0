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
  outcome,
  SECOND,
  secrets,
  sign,
  tenant,
  tenants,
} from './support.ts'

const line = (token: string) => ({ authorization: [`Bearer ${token}`] })

/** More than the tokens of these tests weigh, but not by half. */
const TOKEN = 2500

/** With a clock that the test sets. @param tokens as many are remembered */
function clocked(tokens = 1000) {
  const clock = { now: NOW }
  const memory = { ...DEFAULT_MEMORY, tokens: tokens * TOKEN }
  return { clock, asked: authenticator({ now: () => clock.now, memory }) }
}

t.test('a verified token is answered at once, with the same Principal', async (t) => {
  const { asked } = clocked()
  const given = credentials(line(sign()))
  const first = asked.authenticate(given)
  t.match(first, { user: 'alice' })
  t.equal(asked.authenticate(given), first)
})

t.test('exp is looked at again on a hit', async (t) => {
  const { clock, asked } = clocked()
  const token = sign({ ...claims, exp: SECOND + 60 })
  t.match(await outcome(asked, line(token)), { user: 'alice' })
  clock.now = (SECOND + 60) * 1000 - 1
  t.match(await outcome(asked, line(token)), { user: 'alice' })
  clock.now++
  t.equal(await outcome(asked, line(token)), 'token_expired')
  t.equal(await outcome(asked, line(token)), 'token_expired', 'and again')
  clock.now = NOW
  t.match(await outcome(asked, line(token)), { user: 'alice' }, 'a clock set back')
})

t.test('nbf and iat are looked at again on a hit', async (t) => {
  const { clock, asked } = clocked()
  const token = sign()
  t.match(await outcome(asked, line(token)), { user: 'alice' })
  clock.now = SECOND * 1000 - 1
  t.equal(await outcome(asked, line(token)), 'token_not_yet_valid')
  clock.now = NOW
  t.match(await outcome(asked, line(token)), { user: 'alice' })
})

t.test('a token that became valid is let in: a no is never remembered', async (t) => {
  const { clock, asked } = clocked()
  const token = sign({ ...claims, nbf: SECOND + 60 })
  t.equal(await outcome(asked, line(token)), 'token_not_yet_valid')
  clock.now += 60_000
  t.match(await outcome(asked, line(token)), { user: 'alice' })
})

t.test('a hit needs the whole token', async (t) => {
  const { asked } = clocked()
  const token = sign()
  await outcome(asked, line(token))
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
    t.equal(await outcome(asked, line(other)), 'token_invalid', other.slice(-12))
})

t.test('many requests with one new token get one Principal; with a bad one all are refused', async (t) => {
  const { asked } = clocked()
  const given = line(sign())
  const all = await Promise.all(Array.from({ length: 50 }, () => outcome(asked, given)))
  t.equal(new Set(all).size, 1)
  t.match(all[0], { user: 'alice' })
  const forged = line(sign(claims, { secret: secrets.globex }))
  const refused = await Promise.all(Array.from({ length: 50 }, () => outcome(asked, forged)))
  t.same(new Set(refused), new Set(['token_invalid']))
})

t.test('tokens under way at once do not mix', async (t) => {
  const { asked } = clocked()
  const names = Array.from({ length: 200 }, (_, at) => `user-${at}`)
  const all = await Promise.all(
    names.flatMap((sub) => [
      outcome(asked, line(sign({ ...claims, sub }))),
      outcome(asked, line(sign({ ...claims, sub }, { secret: secrets.globex }))),
    ]),
  )
  t.same(
    all.map((each) => (typeof each === 'string' ? each : each.user)),
    names.flatMap((sub) => [sub, 'token_invalid']),
  )
})

t.test('bounded: the least recently used is verified anew', async (t) => {
  const { asked } = clocked(2)
  const [a, b, c] = ['a', 'b', 'c'].map((sub) => credentials(line(sign({ ...claims, sub }))))
  t.ok(a && b && c)
  if (!a || !b || !c) return
  const ask = (given: typeof a) => asked.authenticate(given)
  const [first, second] = [ask(a), ask(b)]
  t.equal(ask(a), first)
  const third = ask(c)
  t.equal(ask(a), first, 'used since')
  t.equal(ask(c), third)
  const again = ask(b)
  t.not(again, second, 'pushed out')
  t.match(again, { user: 'b' })
  t.equal(ask(b), again, 'and remembered again')
})

t.test('bad tokens push out no good ones', async (t) => {
  const { clock, asked } = clocked(1)
  const good = credentials(line(sign()))
  const first = asked.authenticate(good)
  for (let at = 0; at < 20; at++) {
    await outcome(asked, line(sign({ ...claims, at }, { secret: secrets.globex })))
    await outcome(asked, line(sign({ ...claims, at, sub: '' })))
    await outcome(asked, line(sign({ ...claims, at, exp: SECOND })))
    await outcome(asked, line(sign({ ...claims, at, nbf: SECOND + 60 })))
    await outcome(asked, line(`${at}.a.b`))
  }
  t.equal(asked.authenticate(good), first)
  clock.now += 1
  t.match(asked.authenticate(good), { user: 'alice' })
})

t.test('credentials that come again and again', async (t) => {
  const { clock, asked } = clocked()
  const token = sign({ ...claims, exp: SECOND + 60 })
  const [one, two, spelled] = [
    credentials(line(token)),
    credentials(line(token)),
    credentials({ authorization: [`bearer ${token}`] }),
  ]
  const first = asked.authenticate(one)
  for (let i = 0; i < 3; i++) for (const each of [one, two, spelled]) t.equal(asked.authenticate(each), first)
  const twice = credentials({ authorization: [`Bearer ${token}`, 'Basic a'] })
  for (let i = 0; i < 3; i++) t.match(asked.authenticate(twice), { code: 'credentials_ambiguous' })
  const none = credentials({ cookie: ['a=b'] })
  for (let i = 0; i < 3; i++) t.match(asked.authenticate(none), { code: 'credentials_missing' })
  const others = authenticator({ tenants: tenants(tenant('acme', { secrets: [secrets.acmeOld] })) })
  for (const each of [one, two, spelled])
    t.match(
      await others.authenticate(each),
      { code: 'token_invalid' },
      'another configuration knows nothing of it',
    )
  clock.now = (SECOND + 60) * 1000
  for (let i = 0; i < 2; i++)
    for (const each of [one, two, spelled]) t.match(asked.authenticate(each), { code: 'token_expired' })
})

t.test('one token, however its line is spelled, pushes out no others', async (t) => {
  const { asked } = clocked(2)
  const other = credentials(line(sign({ ...claims, sub: 'other' })))
  const token = sign()
  const known = asked.authenticate(other)
  const first = asked.authenticate(credentials(line(token)))
  const spaces = Array.from({ length: 50 }, (_, i) => `Bearer ${' '.repeat(i)}${token}`)
  for (const spelling of [`bearer ${token}`, `BEARER  ${token}`, ...spaces])
    t.equal(asked.authenticate(credentials({ authorization: [spelling] })), first)
  t.equal(asked.authenticate(other), known)
})

t.test('a changed secret counts at once: what was verified goes with the configuration', async (t) => {
  const token = sign()
  t.match(await outcome(authenticator(), line(token)), { user: 'alice' })
  const rotated = authenticator({ tenants: tenants(tenant('acme', { secrets: [secrets.acmeOld] })) })
  t.equal(await outcome(rotated, line(token)), 'token_invalid')
})

t.test('a fault of the machine is no verdict on the token, and is not remembered', async (t) => {
  // A secret that can't be a key makes verification itself fail, as a broken crypto library would.
  const broken = { ...acme, token: { ...acme.token, secrets: [null as unknown as Uint8Array] } }
  const asked = new BearerTokens({
    tenants: tenants(broken),
    defaultTenant: null,
    now: () => NOW,
    memory: 2 ** 24,
  })
  const token = sign()
  for (let at = 0; at < 2; at++) t.throws(() => asked.authenticate(`Bearer ${token}`), TypeError)
})

t.test('what is remembered is frozen', async (t) => {
  const principal = await authenticator().authenticate(credentials(line(sign())))
  t.notOk(principal instanceof Refusal)
  t.ok(Object.isFrozen(principal))
  t.ok(!(principal instanceof Refusal) && Object.isFrozen(principal.claims))
})
