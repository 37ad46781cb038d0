/**
 * Sign-ins that are begun anonymously and never finished: no other sign-in is lost by them, and no memory is kept for
 * them. A callback with an unknown state costs no memory either; a callback with a valid state takes a place of that
 * tenant only.
 */

import { mock } from 'node:test'
import t from 'tap'
import { ProcessEphemeral } from '../../src/oidc/sign-in/completed-sign-ins.ts'
import { signInCookieName } from '../../src/oidc/session/cookies.ts'
import { startProcesses } from '../sign-in/processes.ts'
import { startRedis } from '../support/servers/redis.ts'
import { startOwn } from '../oidc/world.ts'

const LONG = `/${'a'.repeat(2000)}`

/** The memory of used sign-ins of the gateway that was asked last. */
let used = new ProcessEphemeral()
const note = (asked: ProcessEphemeral) => void (used = asked)
const { epoch } = ProcessEphemeral.prototype
mock.method(ProcessEphemeral.prototype, 'epoch', function (this: ProcessEphemeral) {
  note(this)
  return epoch.call(this)
})

t.test('anonymous starts take no place: sign-ins begun before them complete', async (t) => {
  const world = await startOwn(t)
  world.user('alice', {})
  const browser = world.visitor()
  const answer = await browser.answer()
  for (let i = 0; i < 100; i++)
    t.equal((await world.visitor().begin('acme', { return_to: LONG })).status, 200)
  t.equal(used.size, 0)
  t.equal((await browser.send(answer.href)).status, 200)
  t.equal(used.size, 1)
})

t.test('anonymous starts with Redis leave no keys in it', async (t) => {
  const redis = await startRedis(t)
  const world = await startProcesses(t, { names: ['a'], store: 'sqlite:./seatgate.db', redis: redis.url })
  world.user('alice', { memberOf: ['Viewer'] })
  t.equal((await world.visitor().signIn()).status, 200)
  const keys = async () => Number(await redis.command('DBSIZE'))
  const before = await keys()
  for (let i = 0; i < 4; i++)
    await Promise.all(Array.from({ length: 25 }, () => world.visitor().begin('acme', { return_to: LONG })))
  t.equal((await keys()) - before, 0, 'keys for 100 starts')
  t.equal((await world.visitor().signIn()).status, 200)
  t.equal((await keys()) - before, 1, 'one key for a completed sign-in')
  const used = String(await redis.command('KEYS', '*sign-in:acme:*')).split(',')
  const left = Number(await redis.command('PTTL', used[0] ?? ''))
  t.ok(left > 600_000 && left <= 660_000, `for at most eleven minutes: ${left} ms`)
})

t.test('callbacks with unknown states', async (t) => {
  const world = await startOwn(t)
  await world.visitor().begin()
  world.acme.requestCounts.clear()
  const time = Math.floor(Date.now() / 1000).toString(36)
  for (let i = 0; i < 100; i++) {
    const state = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
    const cookie = `${signInCookieName(state)}=acme.${time}.${'A'.repeat(60)}`
    const query = new URLSearchParams({ state, code: 'x', iss: world.acme.issuer })
    const page = await world.visitor().ask(`/auth/oidc/callback?${query}`, { headers: { cookie } })
    t.match(page.json, { status: 400, code: 'input_invalid' })
  }
  t.equal(used.size, 0)
  t.equal(world.acme.requestCounts.size, 0, 'the provider receives no request')
})

t.test('callbacks with made-up codes until the memory is full: other tenants can sign in', async (t) => {
  const world = await startOwn(t)
  world.user('alice', {})
  world.user('alice', {}, world.globex)
  const honest = world.visitor()
  const answer = await honest.answer()
  // As earlier callbacks have left it: six less than acme may have, and than the pool of all tenants has.
  for (const [tenant, count] of Object.entries({ acme: 49_994, initech: 50_000, umbrella: 3_000 }))
    for (let i = 0; i < count; i++) used.add(tenant, `earlier ${i}`, 600_000)
  const statuses: number[] = []
  for (let i = 0; i < 10; i++) {
    const attacker = world.visitor('mallory')
    const { state } = (await attacker.begin()).json
    const query = new URLSearchParams({ state, code: 'x', iss: world.acme.issuer })
    statuses.push((await attacker.send(`${world.origin}/auth/oidc/callback?${query}`)).status)
  }
  t.same(statuses, [...Array(6).fill(401), ...Array(4).fill(503)])
  t.equal(world.acme.count('/token'), 6, 'no code is redeemed that could be redeemed again')
  t.equal((await honest.send(answer.href)).status, 503, 'refused, not forgotten')
  t.equal((await world.visitor().signIn('globex')).status, 200)
  t.match(world.events('sign_in_failed').at(-1), {
    tenant: 'acme',
    reason: /acme has reached the limit of 50000/,
  })
})
