/** What a revocation voids, and what it leaves, on a running gateway. */

import { SignJWT } from 'jose'
import t from 'tap'
import { HostileProvider } from '../oidc/hostile-provider.ts'
import { ADMIN, done, writer } from '../seats-admin/store/conformance.ts'
import { startWorld } from '../support/world.ts'
import { laterThan, storeOf } from './revoking.ts'

const AUDIENCE = 'https://gw.example'
const issuer = await HostileProvider.start(t)
issuer.metadata = { authorization_endpoint: undefined, token_endpoint: undefined }
const entry = { issuer: issuer.issuer, audience: AUDIENCE, seats: ['Viewer'], allow_insecure: true }
const world = await startWorld(t, {
  routes: ['GET /list: trainings:list', 'GET /v1/me: authenticated', 'GET /open: public'],
  tables: { 'other.yaml': 'upstream: main\ntenant: globex\nroutes:\n  GET /other: authenticated\n' },
  acme: [`issuers: ${JSON.stringify([entry])}`],
})
await world.seat('Viewer', ['s1'], ['trainings:list'])
const { store, revoke, isApplied } = await storeOf(t, world)

type Headers = Readonly<Record<string, string>>
const bearing = (token: string): Headers => ({ authorization: `Bearer ${token}`, space: 's1' })
const bearer = async (sub: string, more: { tenant?: string; now?: number } = {}) =>
  bearing(await world.token(['s1:Viewer'], { sub, ...more }))

/** The code of the refusal, or the status. */
async function ask(headers: Headers, path = '/list'): Promise<string | number> {
  const { status, json } = await world.client.send('GET', path, headers)
  return status < 300 ? status : json.code
}

/** A token of acme with exactly these claims. */
async function signed(claims: Record<string, unknown>): Promise<Headers> {
  const { secrets, algorithm } = world.tenant('acme').token
  const [secret] = secrets
  if (secret === undefined) throw new Error('the tenant has no secret')
  const all = { tenant_id: 'acme', hash_perm: ['s1:Viewer'], exp: Date.now() / 1000 + 3600, ...claims }
  return bearing(await new SignJWT(all).setProtectedHeader({ alg: algorithm }).sign(secret))
}

const now = () => Date.now() / 1000

t.test('tokens of a user, those that memory has verified too', async (t) => {
  const [eve, again, alice] = [await bearer('eve'), await bearer('eve'), await bearer('alice')]
  const abroad = await bearer('eve', { tenant: 'globex' })
  for (const headers of [eve, alice]) t.equal(await ask(headers), 200)
  t.equal(await ask(abroad, '/v1/me'), 200)
  const at = await revoke({ user: 'eve' }, { reason: 'stole the silver' })
  for (const headers of [eve, again, await signed({ sub: 'eve', iat: at + 0.999 })]) {
    t.equal(await ask(headers), 'token_revoked')
    t.equal(await ask(headers, '/v1/me'), 'token_revoked')
    t.equal(await ask(headers, '/other'), 'token_revoked', 'before the tenant of the route')
    t.equal(await ask(headers, '/open'), 200, 'a public route reads no credential')
  }
  t.equal(await ask(alice), 200)
  t.equal(await ask(abroad, '/v1/me'), 200, 'the same name in another tenant')
  await laterThan(at)
  t.equal(await ask(await bearer('eve')), 200, 'a new token passes')
  t.equal(await ask(eve), 'token_revoked')
})

t.test('the response, and the line of the log', async (t) => {
  const headers = await bearer('mallory')
  const at = await revoke({ user: 'mallory' }, { reason: 'stole the silver' })
  const { status, headers: fields, body, json } = await world.client.send('GET', '/list', headers)
  t.equal(status, 401)
  t.match(fields['www-authenticate'], /Bearer/)
  const second = new Date(at * 1000).toISOString().slice(0, 19)
  t.match(json, { code: 'token_revoked', detail: new RegExp(`up to ${second}Z`) })
  t.notMatch(body, /silver|mallory/)
  t.match(
    world.log().findLast(({ code }) => code === 'token_revoked'),
    { status: 401, user: 'mallory', tenant: 'acme' },
  )
  t.notMatch(world.logText(), /silver/)
})

t.test('explain: the time up to which tokens of the user are void', async (t) => {
  const explain = async (user: string) => {
    const question = { method: 'GET', path: '/list', space: 's1', user }
    return (await world.admin('POST', '/v1/access/explain', question)).json
  }
  t.notMatch((await explain('vera')).reason, /revocation/)
  const at = await revoke({ user: 'vera' })
  const second = new Date(at * 1000).toISOString().slice(0, 19)
  const reason = new RegExp(`A revocation has voided the tokens that were issued up to ${second}Z`)
  t.match(await explain('vera'), { code: 'no_seat_in_space', reason }, 'the decision is that on a new token')
  await revoke({ user: 'vera' }, { what: 'all' })
  t.match(await explain('vera'), { code: 'caller_blocked', reason: /blocked this user\..* A revocation/ })
})

t.test('a token without iat is void for good, and no other', async (t) => {
  const headers = await signed({ sub: 'nora' })
  t.equal(await ask(headers), 200)
  const at = await revoke({ user: 'nora' })
  t.equal(await ask(headers), 'token_revoked')
  await laterThan(at)
  t.equal(await ask(await signed({ sub: 'nora' })), 'token_revoked')
  t.equal(await ask(await signed({ sub: 'nora', iat: now() })), 200)
  t.equal(await ask(await signed({ sub: 'nina' })), 200)
})

t.test('any user of a token', async (t) => {
  for (const sub of ['x'.repeat(11_000), 'auth0|7', '|', '__proto__', '"', 'Zoë \u{1f600}']) {
    const headers = await signed({ sub, iat: now() })
    t.equal(await ask(headers), 200, sub.slice(0, 20))
    await revoke({ user: sub })
    t.equal(await ask(headers), 'token_revoked', sub.slice(0, 20))
    t.equal(await ask(await signed({ sub: `${sub}.`, iat: now() })), 200)
  }
})

t.test('two revocations of one user at once', async (t) => {
  const headers = await bearer('twice')
  const all = await Promise.all([revoke({ user: 'twice' }), revoke({ user: 'twice' })])
  t.equal(await ask(headers), 'token_revoked')
  await laterThan(Math.max(...all))
  t.equal(await ask(await bearer('twice')), 200)
})

t.test('a revocation with a block: first the one is told, then the other', async (t) => {
  const headers = await bearer('paula')
  const at = await revoke({ user: 'paula' }, { what: 'all' })
  t.equal(await ask(headers), 'token_revoked')
  await laterThan(at)
  t.equal(await ask(await bearer('paula')), 'caller_blocked')
})

t.test('an API key with an owner', async (t) => {
  const made = async (owner: string) => {
    const input = { name: `of ${owner}`, seats: ['Viewer'], expiresAt: null, owner }
    const { value } = done(await store.createApiKey(writer(ADMIN), input))
    return { 'x-api-key': value.key, space: 's1' }
  }
  const [owned, other] = [await made('olga'), await made('otto')]
  t.equal(await ask(owned), 200)
  const block = done(await store.createBlock(writer(), { user: 'olga', until: null, reason: null }))
  await isApplied()
  t.equal(await ask(owned), 'caller_blocked')
  done(await store.deleteBlock(writer(), block.value.id))
  await isApplied()
  t.equal(await ask(owned), 200)
  await revoke({ user: 'olga' })
  t.equal(await ask(owned), 'api_key_revoked')
  t.equal(await ask(other), 200)
  t.equal(await ask(await made('olga')), 200, 'a key that is made after the revocation')
})

t.test('tokens of an issuer: of the issuer, of a user of it, and of the tenant', async (t) => {
  const of = async (sub: string) => {
    const claims = { sub, aud: AUDIENCE, iat: Math.floor(now()), exp: Math.floor(now()) + 600 }
    return bearing(await issuer.sign(issuer.claims(claims)))
  }
  const [build, piped, own] = [await of('build'), await of('repo|main'), await bearer('alice')]
  for (const headers of [build, piped]) t.equal(await ask(headers), 200)
  let at = await revoke({ user: `${issuer.issuer}|build` })
  t.equal(await ask(build), 'token_revoked')
  t.equal(await ask(piped), 200)
  await laterThan(at)
  const fresh = await of('build')
  t.equal(await ask(fresh), 200)
  at = await revoke({ issuer: issuer.issuer })
  for (const headers of [build, piped, fresh]) t.equal(await ask(headers), 'token_revoked')
  t.equal(await ask(own), 200)
  await laterThan(at)
  t.equal(await ask(await of('repo|main')), 200)
})

t.test('of more users than memory keeps as a whole', async (t) => {
  const headers = await bearer('late')
  for (let at = 0; at < 501; at++)
    done(
      await store.revoke(writer(), {
        ...{ subject: { user: `many ${at}` }, what: 'existing', until: null, reason: null, apiKeys: false },
      }),
    )
  await isApplied()
  t.equal(await ask(headers), 200)
  const at = await revoke({ user: 'late' })
  t.equal(await ask(headers), 'token_revoked')
  t.equal(await ask(await bearer('many 7', { now: (at - 60) * 1000 })), 'token_revoked')
  await laterThan(at)
  t.equal(await ask(await bearer('late')), 200)
})

t.test('a revocation outlives the gateway', async (t) => {
  await world.reload()
  t.equal(await ask(await bearer('eve', { now: Date.now() - 600_000 })), 'token_revoked')
})

t.test('of a whole tenant: every token, and no API key and no other tenant', async (t) => {
  const [alice, abroad] = [await bearer('alice'), await bearer('alice', { tenant: 'globex' })]
  t.equal(await ask(alice), 200)
  const at = await revoke({ tenant: true })
  t.equal(await ask(alice), 'token_revoked')
  t.equal(await ask(await signed({ sub: 'new' })), 'token_revoked')
  t.equal(await ask(abroad, '/v1/me'), 200)
  t.equal((await world.admin('GET', '/v1/seats')).status, 200)
  await laterThan(at)
  t.equal(await ask(await bearer('alice')), 200)
})
