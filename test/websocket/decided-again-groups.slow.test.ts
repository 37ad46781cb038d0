/**
 * What is open of a user with groups by SCIM, or with a grant, is decided again when these change, when a grant
 * begins or ends, and when the configuration takes Seats from elsewhere.
 */

import { readFileSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { startScim } from '../scim/support.ts'
import { holdLease } from '../support/held-lease.ts'
import { type HeldTime, holdTime } from '../support/held-time.ts'
import { HELD_ROUTES, openHeld, reevaluated, reevaluatedAgain, serveEvents } from './held.ts'
import { startWebSocketUpstream } from './support.ts'

const HOUR = 3_600_000

/** ms that the wall clock of the gateway is ahead */
let ahead = 0
const wallClock = Date.now
Date.now = () => wallClock() + ahead

const upstream = await startWebSocketUpstream(t, { serve: serveEvents })
const scim = await startScim(t, { acme: ['seats_from: scim'], routes: HELD_ROUTES, target: upstream.url })
const { world } = scim
await world.seat('Viewer', ['s1'], ['trainings:list'])
const other = await world.seat('Other', ['s1'], ['trainings:list'])
const nameless = await world.seat('Nameless', ['s1'], ['x:y'])
await holdLease(t, world)
let time: HeldTime
t.beforeEach((t) => {
  time = holdTime(t)
})

/** What is open with a token of the user, which names a Seat too. */
async function open(sub: string, names: readonly string[] = []) {
  const token = await world.token(
    names.map((name) => `s1:${name}`),
    { sub },
  )
  return openHeld(world.port, [`Authorization: Bearer ${token}`, 'Space: s1'], '', time)
}

async function grant(user: string, seat: string, from: number | null, until: number) {
  const times = {
    ...(from !== null && { from: new Date(from).toISOString() }),
    until: new Date(until).toISOString(),
  }
  const { status, json, body } = await world.admin('POST', '/v1/grants', { user, seat, ...times })
  if (status !== 200) throw new Error(body)
  return json.id as string
}

/** Waits until checks have run since now, which cut two exchanges. */
async function checked(t: Test): Promise<void> {
  const id = await grant('someone', other, null, wallClock() + 2 * HOUR)
  const held = await open('someone')
  t.equal((await world.admin('DELETE', `/v1/grants/${id}`)).status, 204)
  await held.cut(t, 'no_seat_in_space')
}

t.test('a member is removed; what is open of another one stays', async (t) => {
  const [alice, bob] = [await scim.user('alice'), await scim.user('bob')]
  const group = await scim.group('Viewer', [alice, bob])
  const [held, ofBob] = [await open('alice'), await open('bob')]
  const { status } = await scim.patch(`/Groups/${group}`, {
    op: 'remove',
    path: `members[value eq "${alice}"]`,
  })
  t.ok(status < 300)
  await held.cut(t, 'no_seat_in_space')
  await ofBob.staysOpen(t)
  await scim.patch(`/Groups/${group}`, { op: 'replace', value: { displayName: 'Renamed' } })
  await ofBob.cut(t, 'no_seat_in_space')
})

t.test('changes of other users and tenants decide nothing again', async (t) => {
  const group = await scim.group('Viewer', [await scim.user('carl')])
  const held = await open('carl')
  const before = await reevaluated(world)
  const [dora] = [await scim.user('dora')]
  await scim.patch(`/Groups/${group}`, { op: 'add', path: 'members', value: [{ value: dora }] })
  await grant('dora', other, null, wallClock() + HOUR)
  // A change of the user itself comes later, and is seen.
  const id = await grant('carl', nameless, null, wallClock() + HOUR)
  await reevaluatedAgain(world, before, 2, time)
  t.equal(await reevaluated(world), before + 2, 'the WebSocket and the stream of the one user, once')
  await held.staysOpen(t)
  held.end()
  t.equal((await world.admin('DELETE', `/v1/grants/${id}`)).status, 204)
  t.equal((await scim.send('DELETE', `/Groups/${group}`)).status, 204)
})

t.test('a grant is deleted', async (t) => {
  const id = await grant('erin', other, null, wallClock() + HOUR)
  const held = await open('erin')
  t.equal((await world.admin('DELETE', `/v1/grants/${id}`)).status, 204)
  await held.cut(t, 'no_seat_in_space')
})

t.test('a grant begins: decided again; the other ends by the wall clock: cut', async (t) => {
  const now = wallClock()
  await grant('finn', other, null, now + HOUR / 2)
  await grant('finn', nameless, now + HOUR / 6, now + HOUR)
  const held = await open('finn')
  await checked(t)
  const before = await reevaluated(world)
  t.teardown(() => (ahead = 0))
  // The wall clock alone begins no grant.
  ahead = HOUR / 4
  await checked(t)
  t.equal(await reevaluated(world), before + 2)
  ahead = HOUR / 2
  await held.cut(t, 'no_seat_in_space')
})

t.test('the Seat of a grant is deleted', async (t) => {
  const seat = await world.seat('Short', ['s1'], ['trainings:list'])
  await grant('gina', seat, null, wallClock() + HOUR)
  const held = await open('gina')
  t.equal((await world.admin('DELETE', `/v1/seats/${seat}`)).status, 204)
  await held.cut(t, 'no_seat_in_space')
})

t.test('Seats from the claim, and from SCIM again, by a reload', async (t) => {
  const { file } = world.config
  const from = async (source: 'claim' | 'scim') => {
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/seats_from: \w+/, `seats_from: ${source}`))
    await world.reload()
  }
  const group = await scim.group('Viewer', [await scim.user('hans')])
  const byGroups = await open('hans')
  const byBoth = await open('hans', ['Other'])
  await from('claim')
  await byGroups.cut(t, 'no_seat_in_space')
  await byBoth.staysOpen(t)
  const byClaim = await open('ines', ['Other'])
  await from('scim')
  await byClaim.cut(t, 'no_seat_in_space')
  await byBoth.staysOpen(t)
  t.equal((await scim.send('DELETE', `/Groups/${group}`)).status, 204)
  await byBoth.cut(t, 'no_seat_in_space')
})

t.test('a user is deactivated', async (t) => {
  const id = await scim.user('jane')
  await scim.group('Viewer', [id])
  const held = await open('jane')
  const answer = await scim.patch(`/Users/${id}`, { op: 'replace', path: 'active', value: false })
  t.ok(answer.status < 300, answer.body)
  await held.cut(t, 'token_revoked')
})
