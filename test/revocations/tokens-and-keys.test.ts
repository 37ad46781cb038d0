/** Revocations of users, issuers, API keys and tenants at a running gateway: tokens of all kinds, and API keys. */

import { createLocalJWKSet, decodeJwt, jwtVerify } from 'jose'
import t from 'tap'
import { isReceiptFault, verifyReceipt } from '../../src/identity/receipt.ts'
import { keyFile } from '../identity/support.ts'
import { HostileProvider } from '../oidc/hostile-provider.ts'
import { metricsOf } from '../support/operations.ts'
import { startWorld } from '../support/world.ts'
import { entries, NONE, outcome, revoke, REVOCATIONS } from './support.ts'

const AUDIENCE = 'https://gw.example'
const issuer = await HostileProvider.start(t)
issuer.metadata = { authorization_endpoint: undefined, token_endpoint: undefined }
const accepted = { issuer: issuer.issuer, audience: AUDIENCE, seats: ['Viewer'], match: { groups: 'ci' } }
const world = await startWorld(t, {
  acme: [`issuers: ${JSON.stringify([{ ...accepted, allow_insecure: true }])}`],
  upstream: ['pass_authorization: true'],
  top: [`identity: { keys: [${keyFile(t)}] }`, 'decision: { listen: 127.0.0.1:0 }'],
})
for (const tenant of ['acme', 'globex']) await world.seat('Viewer', ['main'], ['trainings:list'], tenant)
await world.seat('Administrator', ['admin'], ['*'])

type Headers = Record<string, string>

/** The second of `iat` of what is issued from now on is later than that of what was issued before. */
async function laterSecond(): Promise<void> {
  const second = Math.floor(Date.now() / 1000)
  while (Math.floor(Date.now() / 1000) === second) await new Promise((next) => setTimeout(next, 20))
}

async function bearer(sub: string, tenant = 'acme'): Promise<Headers> {
  const token = await world.token(['main:Viewer'], { sub, tenant })
  return { authorization: `Bearer ${token}`, space: 'main' }
}

async function issued(sub: string): Promise<Headers> {
  const token = await issuer.sign(issuer.claims({ aud: AUDIENCE, sub, groups: ['ci'] }))
  return { authorization: `Bearer ${token}`, space: 'main' }
}

async function apiKey(
  name: string,
  more: object = {},
  tenant = 'acme',
): Promise<{ id: string } & Credential> {
  const body = { name, seats: ['Viewer'], ...more }
  const { json } = await world.admin('POST', '/v1/api-keys', body, tenant)
  return { id: json.id, headers: { 'x-api-key': json.key, space: 'main' } }
}

interface Credential {
  readonly headers: Headers
}

async function ask(headers: Headers): Promise<string> {
  return outcome(await world.client.send('GET', '/v1/trainings', headers))
}

t.test('a user: what is issued later passes', async (t) => {
  const [old, again, bob] = [await bearer('alice'), await bearer('alice'), await bearer('bob')]
  const other = await bearer('alice', 'globex')
  const [owned, own] = [await apiKey('owned', { owner: 'alice' }), await apiKey('own')]
  const ofOther = await apiKey('owned', { owner: 'alice' }, 'globex')
  for (const each of [old, again, bob, other, owned.headers, own.headers, ofOther.headers])
    t.equal(await ask(each), 'allow')
  const answer = await revoke(world, { user: 'alice' }, { reason: 'stolen laptop' })
  t.same([answer.state, answer.ended], ['closed', { ...NONE, api_keys: 1 }])
  for (const each of [old, again]) t.equal(await ask(each), '401 token_revoked')
  t.equal(await ask(owned.headers), '401 api_key_revoked')
  for (const each of [bob, other, own.headers, ofOther.headers]) t.equal(await ask(each), 'allow')
  const next = await bearer('alice')
  const { iat = 0 } = decodeJwt(next.authorization?.slice('Bearer '.length) ?? '')
  const isSameSecond = iat <= Math.floor(Date.parse(answer.at) / 1000)
  t.equal(await ask(next), isSameSecond ? '401 token_revoked' : 'allow', 'within the same second')
  await laterSecond()
  t.equal(await ask(await bearer('alice')), 'allow')
  const [block] = (await world.admin('GET', '/v1/blocks')).json.data
  t.equal(block, undefined, 'existing makes no block')
})

t.test('all: blocked besides, also what the user owns and gets later', async (t) => {
  const old = await bearer('carol')
  const until = new Date(Date.now() + 3_600_000).toISOString()
  const answer = await revoke(world, { user: 'carol' }, { what: 'all', until })
  t.same([answer.what, answer.until, answer.state], ['all', until, 'closed'])
  t.equal(await ask(old), '401 token_revoked', '401 comes before 403')
  await laterSecond()
  t.equal(await ask(await bearer('carol')), '403 caller_blocked')
  const later = await apiKey('later', { owner: 'carol' })
  t.equal(await ask(later.headers), '403 caller_blocked')
  const { data } = (await world.admin('GET', '/v1/blocks')).json
  t.match(data, [{ user: 'carol', until }])
  await world.admin('DELETE', `/v1/blocks/${data[0].id}`)
  t.equal(await ask(later.headers), 'allow')
  t.equal(await ask(old), '401 token_revoked', 'the end of the block gives nothing back')
})

t.test('an issuer', async (t) => {
  const [old, ours, key] = [await issued('deployer'), await bearer('dave'), await apiKey('k')]
  t.equal(await ask(old), 'allow')
  const answer = await revoke(world, { issuer: issuer.issuer })
  t.same([answer.subject, answer.state], [{ issuer: issuer.issuer }, 'closed'])
  t.equal(await ask(old), '401 token_revoked')
  for (const each of [ours, key.headers]) t.equal(await ask(each), 'allow')
  await laterSecond()
  t.equal(await ask(await issued('deployer')), 'allow')
})

t.test('a user of an issuer', async (t) => {
  const [old, other] = [await issued('one'), await issued('two')]
  await revoke(world, { user: `${issuer.issuer}|one` })
  t.equal(await ask(old), '401 token_revoked')
  t.equal(await ask(other), 'allow')
})

t.test('an API key, whatever it holds', async (t) => {
  const [leaked, other] = [await apiKey('leaked'), await apiKey('other')]
  t.equal(await ask(leaked.headers), 'allow')
  const answer = await revoke(world, { api_key: leaked.id })
  t.same(answer.ended, { ...NONE, api_keys: 1 })
  t.same(
    answer.not_covered.map(({ what }: { what: string }) => what),
    ['signed_identity', 'decision_listener'],
    'no upstream receives API keys',
  )
  t.equal(await ask(leaked.headers), '401 api_key_revoked')
  t.equal(await ask(other.headers), 'allow')
})

t.test('the answer: receipt, audit, and what is not covered', async (t) => {
  const before = Date.now()
  const answer = await world.admin('POST', REVOCATIONS, { subject: { user: 'erin' }, reason: 'a test' })
  const { receipt, ...rest } = answer.json
  t.match(rest.instances, [{ id: String, name: /./, how: 'acknowledged', ms: Number, cut: 0 }])
  t.equal(rest.instances.length, 1)
  const [identity, ...others] = rest.not_covered
  t.same(others, [{ what: 'decision_listener' }, { what: 'forwarded_authorization' }])
  t.equal(identity.what, 'signed_identity')
  const left = Date.parse(identity.until) - before
  t.ok(left >= 60_000 && left < 120_000, 'the lifetime of a signed identity')

  const keySet = (await world.client.send('GET', '/.well-known/seatgate/jwks.json')).body
  const result = await verifyReceipt(receipt, keySet)
  if (isReceiptFault(result)) throw new Error(result.fault)
  const entry = (await entries(world)).find(({ action }) => action === 'revocation.create')
  const audit = { seq: entry?.seq, hash: entry?.hash }
  t.strictSame({ ...result.claims }, { iss: 'seatgate', tenant: 'acme', ...rest, audit })
  t.match(entry, { target: { kind: 'revocation', id: rest.id }, request_id: answer.headers['x-request-id'] })
  const { protectedHeader } = await jwtVerify(receipt, createLocalJWKSet(JSON.parse(keySet)))
  t.equal(protectedHeader.typ, 'seatgate-receipt+jwt')
  t.strictSame((await world.admin('GET', `${REVOCATIONS}/${rest.id}`)).json, answer.json)
  t.equal(
    outcome(await world.client.send('GET', '/v1/me', { authorization: `Bearer ${receipt}` })),
    '401 token_invalid',
    'it is no credential',
  )
})

t.test('a caller that revokes itself is answered', async (t) => {
  const token = await world.token(['admin:Administrator'], { sub: 'root' })
  const headers = { authorization: `Bearer ${token}`, space: 'admin', 'content-type': 'application/json' }
  const send = () =>
    world.client.send('POST', REVOCATIONS, headers, JSON.stringify({ subject: { user: 'root' } }))
  const answer = await send()
  t.equal(answer.status, 200)
  t.same([answer.json.state, answer.json.ended], ['closed', NONE], 'its own request is not cut')
  t.equal(outcome(await send()), '401 token_revoked')

  const { json } = await world.admin('POST', '/v1/api-keys', { name: 'self', seats: ['Administrator'] })
  const key = { 'x-api-key': json.key, space: 'admin', 'content-type': 'application/json' }
  const body = JSON.stringify({ subject: { api_key: json.id } })
  const own = await world.client.send('POST', REVOCATIONS, key, body)
  t.match(own.json, { state: 'closed', ended: { api_keys: 1 } })
  t.equal(outcome(await world.client.send('POST', REVOCATIONS, key, body)), '401 api_key_revoked')
})

t.test('who may: the permission, in the admin space', async (t) => {
  await world.seat('Revoker', ['admin', 'main'], ['revocations:create'])
  await world.seat('Lister', ['admin'], ['revocations:list'])
  const as = async (...seats: string[]) => ({
    authorization: `Bearer ${await world.token(seats, { sub: 'frank' })}`,
    'content-type': 'application/json',
  })
  const body = JSON.stringify({ subject: { user: 'nobody' }, dry_run: true })
  const post = async (space: string, headers: Headers) =>
    outcome(await world.client.send('POST', REVOCATIONS, { ...headers, space }, body))
  const list = async (space: string, headers: Headers) =>
    outcome(await world.client.send('GET', REVOCATIONS, { ...headers, space }))
  const [revoker, lister] = [await as('admin:Revoker', 'main:Revoker'), await as('admin:Lister')]
  t.equal(await post('admin', revoker), 'allow')
  t.equal(await list('admin', revoker), '403 permission_denied')
  t.equal(await post('main', revoker), '403 permission_denied', 'in another space')
  t.equal(await post('admin', lister), '403 permission_denied')
  t.equal(await list('admin', lister), 'allow')
  t.equal(await post('admin', await as('main:Viewer')), '403 no_seat_in_space')
  t.equal(
    outcome(await world.client.send('POST', REVOCATIONS, { ...revoker, space: 'admin' }, '{"subject":{}}')),
    '400 input_invalid',
  )
})

t.test('a preview does nothing', async (t) => {
  const [old, owned] = [await bearer('grace'), await apiKey('owned', { owner: 'grace' })]
  t.equal(await ask(old), 'allow')
  const before = await entries(world)
  const answer = await revoke(world, { user: 'grace' }, { what: 'all', dry_run: true })
  t.match(answer, { id: null, seq: null, receipt: null, ended: { ...NONE, api_keys: 1 } })
  t.match(answer.instances, [{ id: String, name: String, how: null, ms: null, cut: null }])
  for (const each of [old, owned.headers]) t.equal(await ask(each), 'allow')
  t.same(await entries(world), before)
})

t.test('the whole tenant, with its API keys, by a session and by a key', async (t) => {
  const [token, key, other] = [await bearer('heidi'), await apiKey('k'), await bearer('heidi', 'globex')]
  t.match(await revoke(world, { tenant: true }), { state: 'closed', ended: { ...NONE, api_keys: 0 } })
  t.equal(await ask(token), '401 token_revoked')
  for (const each of [key.headers, other]) t.equal(await ask(each), 'allow')
  const keys = (await world.admin('GET', '/v1/api-keys?limit=100')).json.data
  const live = keys.filter((each: { revoked_at?: string }) => each.revoked_at === undefined)
  const answer = await revoke(world, { tenant: true }, { api_keys: true })
  t.equal(answer.ended.api_keys, live.length - 1)
  t.equal(answer.api_keys, true)
  const [own] = (await world.admin('GET', '/v1/api-keys?limit=1')).json.data
  t.same(answer.kept, [{ api_key: own.id }])
  t.equal(await ask(key.headers), '401 api_key_revoked')
  t.equal(await ask(other), 'allow')
  await laterSecond()
  const administrator = await world.token(['admin:Administrator'], { sub: 'ivan' })
  const headers = { authorization: `Bearer ${administrator}`, space: 'admin' }
  const json = { ...headers, 'content-type': 'application/json' }
  const body = JSON.stringify({ subject: { tenant: true }, api_keys: true })
  const last = await world.client.send('POST', REVOCATIONS, json, body)
  t.match(last.json, { ended: { ...NONE, api_keys: 1 }, warnings: [{ code: 'nobody_administers' }] })
  t.notOk('kept' in last.json, 'the caller has no key')
  t.equal(outcome(await world.client.send('GET', REVOCATIONS, headers)), '401 token_revoked')
})

t.test('the metric', async (t) => {
  const text = await metricsOf(world)
  t.match(text, /^seatgate_revocations_total\{state="closed"\} [1-9]/m)
  t.match(text, /^seatgate_revocations_total\{state="partial"\} 0$/m)
})
