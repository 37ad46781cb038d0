/** The provider's keys: key rotation fails no sign-in, and tokens with made-up key ids cause few reads. */

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import { type CryptoKey, exportJWK, generateKeyPair, jwtVerify, SignJWT } from 'jose'
import t from 'tap'
import { KeySet } from '../../src/oidc/provider/jwks.ts'
import { HostileProvider } from './hostile-provider.ts'
import { until } from '../support/until.ts'
import { freshWorld, seat } from './world.ts'

t.test('repeated key rotation at the provider fails no sign-in', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  let handle = ''
  for (let i = 0; i < 3; i++) {
    const page = await world.visitor().signIn()
    t.equal(page.status, 200)
    await world.acme.rotateKeys()
    handle = page.json.refresh_token
  }
  t.equal((await world.visitor().refresh(handle)).status, 200, 'no failed refresh')
})

t.test('the signing key is missing from the key set', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world)
  const old = await provider.sign(provider.claims())
  await provider.newKey('second')
  provider.keys.shift()
  const validate = { tenant: 'acme', id_token: old }
  const page = await world.visitor().postJson(`${world.origin}/auth/oidc/validate`, validate)
  t.match(page.json, { status: 401, code: 'token_invalid' })
})

t.test('2,000 tokens with unknown kids cause few reads, and valid sign-ins still succeed', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world, { acme: { acceptProviderTokens: true } })
  const payload = Buffer.from(JSON.stringify(provider.claims())).toString('base64url')
  const forged = (kid: string) => {
    const header = Buffer.from(JSON.stringify({ alg: 'ES256', kid })).toString('base64url')
    return `${header}.${payload}.${randomBytes(64).toString('base64url')}`
  }
  let accepted = 0
  const began = performance.now()
  const flood = async (from: number) => {
    for (let i = from; i < 2000; i += 20) {
      const token = forged(`kid ${i}`)
      const visitor = world.visitor()
      const page = await (i % 2 === 0 ? visitor.ask('/v1/me', { token }) : visitor.validate(token))
      if (page.status < 400) accepted++
    }
  }
  const flooding = Promise.all(Array.from({ length: 20 }, (_, i) => flood(i)))
  await provider.newKey('changed meanwhile')
  const page = await provider.signIn(world)
  t.equal(page.status, 200, 'signed by the new key')
  await flooding
  // Refused either as forged, or because a slow machine lacks the keys in time.
  t.equal(accepted, 0)
  // The cooldown is ten seconds, and the loop can take longer on a slow machine.
  const allowed = 5 + Math.ceil((performance.now() - began) / 10_000)
  t.ok(provider.count('/jwks') <= allowed, `${provider.count('/jwks')} reads`)
})

t.test('30 concurrent sign-ins', async (t) => {
  const world = await freshWorld()
  await seat(world, 'Viewer', ['s1'])
  const users = Array.from({ length: 30 }, (_, i) => `user-${i}`)
  for (const user of users) world.user(user, { memberOf: ['Viewer'] })
  const pages = await Promise.all(users.map((user) => world.visitor(user).signIn()))
  t.same(
    pages.map(({ status, json }) => [status, json.user?.sub]),
    users.map((user) => [200, user]),
  )
  t.equal(world.acme.count('/.well-known/openid-configuration'), 1)
  t.equal(world.acme.count('/jwks'), 1)
  const { json } = await world.gateway.admin('GET', '/v1/seats?limit=100')
  t.match(
    json.data.find(({ name }: { name: string }) => name === 'Viewer'),
    { member_count: 30 },
  )
  t.equal(new Set(pages.map(({ json }) => json.refresh_token)).size, 30)
})

t.test('a reload during a sign-in', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const answer = await browser.answer()
  let reloaded: Promise<void> | null = null
  world.acme.instead = (request) => {
    // The request for the provider's keys is pending.
    if (request.url === '/jwks') reloaded ??= world.configure()
    return false
  }
  t.equal((await browser.send(answer.href)).status, 200)
  t.ok(reloaded)
  await reloaded
})

/** The keys of a provider with a fake clock, and a verifier for tokens by each key. A read ends once `held` resolves. */
async function keySet() {
  const at = { now: 0, asked: 0, reads: 0, published: ['first'], held: Promise.resolve() }
  const pairs = new Map<string, Awaited<ReturnType<typeof generateKeyPair>>>()
  for (const kid of ['first', 'second']) pairs.set(kid, await generateKeyPair('ES256', { extractable: true }))
  const keys = new KeySet({
    uri: async () => 'https://provider.example/jwks',
    newUri: async () => 'https://provider.example/jwks',
    clock: () => at.now,
    fetch: async () => {
      at.reads++
      const published = at.published
      await at.held
      const jwks = published.map(async (kid) => ({
        ...(await exportJWK(pairs.get(kid)?.publicKey as CryptoKey)),
        kid,
        alg: 'ES256',
      }))
      return Response.json({ keys: await Promise.all(jwks) })
    },
  })
  const verify = async (source: 'provider' | 'request', kid: string) => {
    const signer = pairs.get(kid)?.privateKey ?? pairs.get('first')?.privateKey
    const jws = await new SignJWT({}).setProtectedHeader({ alg: 'ES256', kid }).sign(signer as CryptoKey)
    at.asked++
    return keys
      .with(source, (known) => jwtVerify(jws, known))
      .then(
        () => 'good',
        (cause: { code?: string }) => cause.code ?? String(cause),
      )
  }
  return { at, verify }
}

t.test('keys that change right after a scheduled read', async (t) => {
  const { at, verify } = await keySet()
  t.equal(await verify('request', 'first'), 'good')
  at.published = ['second']
  at.now = 1
  t.equal(await verify('request', 'second'), 'good', 'any token may cause one immediate read')
  for (at.now = 2; at.now < 10_001; at.now += 100)
    t.equal(await verify('request', `made up ${at.now}`), 'ERR_JWKS_NO_MATCHING_KEY')
  t.equal(at.reads, 2, 'no further read for ten seconds')
  at.now = 10_001
  await verify('request', 'made up')
  t.equal(at.reads, 3)
})

for (const source of ['provider', 'request'] as const) {
  t.test(`keys that changed while they were stale: ${source}`, async (t) => {
    const { at, verify } = await keySet()
    await verify(source, 'first')
    at.published = ['second']
    // Old enough for a background read at the next request.
    at.now = 20 * 60_000
    t.equal(await verify(source, 'second'), 'good')
    t.equal(at.reads, 2, 'by the read that was already pending')
  })

  t.test(`tokens by a new key during its read: ${source}`, async (t) => {
    const { at, verify } = await keySet()
    await verify(source, 'first')
    at.published = ['second']
    at.now = 30_000
    const reading = Promise.withResolvers<void>()
    at.held = reading.promise
    const results = [verify(source, 'second')]
    await until(() => at.reads === 2, 'a read of the keys')
    for (let later = 0; later < 3; later++) {
      at.now++
      results.push(verify(source, 'second'))
    }
    await until(() => at.asked === 5, 'the last token')
    reading.resolve()
    t.same(await Promise.all(results), ['good', 'good', 'good', 'good'])
    t.equal(at.reads, 2)
  })
}

t.test(
  'a made-up token that joins a read, or meets a failed one, does not consume the cooldown',
  async (t) => {
    const { at, verify } = await keySet()
    await verify('request', 'first')
    at.now = 20 * 60_000
    const held = Promise.withResolvers<void>()
    at.held = held.promise
    const reading = verify('request', 'first')
    await until(() => at.reads === 2, 'a read of the keys')
    at.now++
    const madeUp = verify('request', 'made up')
    at.published = ['second']
    held.resolve()
    await reading
    await madeUp
    at.now++
    t.equal(await verify('request', 'second'), 'good')
  },
)
