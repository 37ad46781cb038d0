/**
 * Key rotation under the old key id, and at a new address. The gateway finds the new keys by reads whose rate is
 * bounded, whatever tokens with bad signatures arrive meanwhile.
 */

import { randomBytes } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import type { Test } from 'tap'
import t from 'tap'
import { HostileProvider } from './hostile-provider.ts'
import { freshWorld } from './world.ts'

const DISCOVERY = '/.well-known/openid-configuration'

async function known(t: Test) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world, { acme: { acceptProviderTokens: true } })
  const sign = () => provider.sign(provider.claims())
  const signIn = async () => (await provider.signIn(world)).status
  const validate = async (token: string) => {
    const body = { tenant: 'acme', id_token: token }
    return (await world.visitor().postJson(`${world.origin}/auth/oidc/validate`, body)).status
  }
  const asBearer = async (token: string) => (await world.visitor().ask('/v1/me', { token })).status
  t.equal(await validate(await sign()), 200, 'the old key is known')
  return { world, provider, sign, signIn, validate, asBearer }
}

/** Replaces the first key under the same kid. */
async function replaceKey(provider: HostileProvider): Promise<void> {
  provider.keys.length = 0
  await provider.newKey('first')
}

/** Valid except for its signature. */
function spoilt(token: string): string {
  return `${token.slice(0, token.lastIndexOf('.'))}.${randomBytes(64).toString('base64url')}`
}

t.test('a new key under the old kid: a sign-in', async (t) => {
  const { provider, signIn } = await known(t)
  await replaceKey(provider)
  t.equal(await signIn(), 200)
})

t.test('a new key under the old kid: a bearer token', async (t) => {
  const { provider, sign, validate, asBearer } = await known(t)
  await replaceKey(provider)
  t.equal(await validate(await sign()), 200)
  t.equal(await asBearer(await sign()), 200)
  t.equal(provider.count('/jwks'), 2)
})

t.test('a flood of bad signatures under the known kid', async (t) => {
  const { provider, sign, signIn, validate, asBearer } = await known(t)
  const token = await sign()
  const began = performance.now()
  const flood = async (each: (token: string) => Promise<number>) => {
    const seen = new Set<number>()
    for (let i = 0; i < 150; i++) seen.add(await each(spoilt(token)))
    return [...seen]
  }
  const flooding = Promise.all([flood(asBearer), flood(asBearer), flood(validate), flood(validate)])
  await flood(asBearer)
  await replaceKey(provider)
  t.equal(await signIn(), 200, 'a sign-in by a new key under the old kid')
  t.equal(await validate(await sign()), 200, 'the key is known from then on')
  await provider.newKey('second')
  t.equal(await asBearer(await sign()), 200, 'bad signatures have consumed none of the reads for a new kid')
  t.same(await flooding, [[401], [401], [401], [401]])
  const allowed = 5 + Math.ceil((performance.now() - began) / 10_000)
  t.ok(provider.count('/jwks') <= allowed, `${provider.count('/jwks')} reads of keys`)
  t.ok(provider.count(DISCOVERY) <= allowed, `${provider.count(DISCOVERY)} reads of discovery`)
})

for (const [name, left] of [
  ['gone', () => ({ status: 404, body: '' })],
  ['an error', () => ({ status: 500, body: '' })],
  ['still there, with the old keys', null],
] as const)
  t.test(`the keys have moved, and the old address is ${name}`, async (t) => {
    for (const way of ['sign-in', 'validate'] as const) {
      const { provider, sign, signIn, validate } = await known(t)
      const old = structuredClone(provider.keys)
      provider.answers.set('/jwks', left ?? (() => ({ body: { keys: old } })))
      provider.answers.set('/moved/jwks', () => ({ body: { keys: provider.keys } }))
      provider.metadata = { jwks_uri: `${provider.issuer}/moved/jwks` }
      await provider.newKey('second')
      t.equal(way === 'sign-in' ? await signIn() : await validate(await sign()), 200, way)
      t.equal(provider.count(DISCOVERY), 2)
      t.equal(provider.count('/moved/jwks'), 1)
    }
  })

t.test('the keys have not moved, and discovery is unavailable', async (t) => {
  const { provider, sign, validate } = await known(t)
  provider.answers.set(DISCOVERY, () => ({ status: 500, body: '' }))
  await provider.newKey('second')
  t.equal(await validate(await sign()), 200)
})

t.test('the keys have moved to a forbidden address', async (t) => {
  const { provider, sign, validate } = await known(t)
  provider.metadata = { jwks_uri: 'http://192.0.2.1/jwks' }
  await provider.newKey('second')
  t.equal(await validate(await sign()), 200, 'the previous address still counts')
})
