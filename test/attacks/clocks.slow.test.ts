/**
 * Which clocks the time of giving up a name depends on. With a writer whose clock was 3 s slow, a token from before
 * the deletion gained permissions through a reused name, because the time was the writer's alone. Real gateways on
 * PostgreSQL, one with a clock of its own; and the leeway, with the claims as they are read.
 */

import t, { type Test } from 'tap'
import { NO_HOLDERS } from '../decision/seats/no-restrictions.ts'
import { readClaims } from '../../src/decision/authn/token-claims.ts'
import { Refusal } from '../../src/model/errors.ts'
import { resolve } from '../../src/decision/authorize.ts'
import type { Answer } from '../support/client.ts'
import { served } from '../support/served.ts'
import { type Fleet, SPACE, startFleet } from '../fleet/fleet.ts'
import { MAIN } from '../support/gateway-process.ts'
import { traceFrom } from '../decision/trace.ts'

/** Much more than a loaded machine needs between two requests. A clock that is 3 s slow causes the same failure. */
const SKEW = 60_000

/** Of the writers at the names of the fleet's gateways. */
const SKEWS: Readonly<Record<string, number>> = { a: 0, b: -SKEW, c: SKEW }

async function startSkewed(t: Test): Promise<Fleet> {
  const clock = `const now = Date.now; Date.now = () => now() + Number(process.env.SKEW ?? 0)`
  const program = ['--import', `data:text/javascript,${encodeURIComponent(clock)}`, MAIN]
  return startFleet(t, {
    gateways: 3,
    redis: 'none',
    proxies: [],
    program,
    envOf: (name) => ({ SKEW: String(SKEWS[name]) }),
  })
}

/** Repeats what a gateway refused because the store answered too late on a busy machine. */
async function written(write: () => Promise<Answer>, status: number): Promise<Answer['json']> {
  const answer = await served(write)
  if (answer.status !== status) throw new Error(`${answer.status} ${answer.body}`)
  return status === 204 ? null : answer.json
}

t.test('an older token gains nothing through a reused name', async (t) => {
  const fleet = await startSkewed(t)
  for (const [writer, name] of [
    [1, 'written by a slow clock'],
    [2, 'written by a clock ahead'],
  ] as const) {
    const viewer = { name: `Viewer ${writer}`, spaces: [SPACE], permissions: ['trainings:list'] }
    const { id } = await written(() => fleet.admin(fleet.first, 'POST', '/v1/seats', viewer), 200)
    const token = await fleet.token([`${SPACE}:${viewer.name}`])
    const headers = { authorization: `Bearer ${token}`, space: SPACE }
    t.equal(await fleet.statusOf(fleet.first, headers), 200, name)
    await written(() => fleet.admin(fleet.at(writer), 'DELETE', `/v1/seats/${id}`), 204)
    await written(() => fleet.admin(fleet.at(writer), 'POST', '/v1/seats', viewer), 200)
    t.equal(await fleet.statusOf(fleet.first, headers), 403, `${name}: the older token`)
  }
})

t.test('tokens issued up to the leeway later count as issued before', async (t) => {
  const givenUpAt = 1_800_000_000
  const gains = (iat: number, leeway: number) => {
    const token = readClaims({ sub: 'alice', exp: iat + 60, iat, hash_perm: ['s1:Viewer'] }, 'acme', leeway)
    if (token instanceof Refusal) throw token
    const seat = {
      id: 'a',
      name: 'Viewer',
      spaces: new Set(['s1']),
      permissions: new Set(['a:b']),
      complete: true,
    }
    const seats = { seatByName: () => ({ seat, givenUpAt }), seatById: () => null, ...NO_HOLDERS }
    const found = resolve(seats, token.principal, { id: 'q', space: 's1', permission: 'a:b' }, traceFrom())
    return found instanceof Promise ? null : found.entries.map(({ nameGivenUp }) => !nameGivenUp)
  }
  t.same([gains(givenUpAt, 0), gains(givenUpAt + 1, 0)], [[false], [true]])
  t.same([gains(givenUpAt + 5, 5000), gains(givenUpAt + 6, 5000)], [[false], [true]])
  t.same([gains(givenUpAt + 1, 250), gains(givenUpAt + 2, 250)], [[false], [true]], 'a fraction of a second')
})
