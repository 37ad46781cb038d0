/** The fields of the access log about a decision hold any text, and are those of each request. */

import t from 'tap'
import type { ConsideredSeat, Decision } from '../../src/model/decision.ts'
import type { Principal } from '../../src/model/principal.ts'
import { type Route, UNSCOPED } from '../../src/model/route.ts'
import { decisionFields } from '../../src/telemetry/decision-fields.ts'
import { Random } from '../support/random.ts'

function decisionFor(user: string): Decision {
  const principal: Principal = {
    method: 'bearer',
    tenant: 'acme',
    user,
    email: null,
    claims: { by: 'name', entries: new Map([['s1', ['Named']]]), issuedAt: 100 },
    owner: user,
    issuedAt: 100,
    session: null,
    validUntil: null,
  }
  return {
    ...{ answer: 'deny', code: 'permission_denied', reason: '', method: 'GET', path: '/', route: null },
    ...{ permission: null, principal, space: 's1', seats: [], grantedIn: [], source: null, config: null },
    timings: { match: 0, authenticate: 0, resolve: 0, decide: 0, total: 0 },
  }
}

t.test('callers with texts of any kind', async (t) => {
  for (const user of ['alice', '日本', 'a"b\\', '\ud800', '\u007f\u2028', 'x'.repeat(2000)])
    t.same(JSON.parse(`{${decisionFields(decisionFor(user), null, '').slice(1)}}`), {
      ...{ tenant: 'acme', user, auth: 'bearer', issued_at: 100 },
      ...{ space: 's1', seats: ['Named:named'] },
    })
})

function routeOf(path: string): Route {
  return {
    ...UNSCOPED,
    ...{ id: `GET ${path}`, method: 'GET', path, requirement: 'a:b', maxBody: 0, responseTimeout: null },
    ...{ signIn: null, cors: null, place: null, rateLimits: [], target: { kind: 'upstream', name: 'main' } },
  }
}

t.test('callers that repeat their requests, in any order', async (t) => {
  const random = new Random(1)
  const callers = ['alice', 'bob'].map((user) => decisionFor(user).principal)
  const routes = [routeOf('/one'), routeOf('/two')]
  const seats = (name: string, verdict: ConsideredSeat['verdict']): ConsideredSeat => ({
    name,
    id: null,
    verdict,
  })
  const choices: Record<string, readonly unknown[]> = {
    principal: callers,
    route: routes,
    space: ['s1', 's2', null],
    permission: ['a:b', 'c:d'],
    source: ['memory', 'store', null],
    seats: [
      [],
      [seats('Viewer', 'grants')],
      [seats('Viewer', 'lacks_permission')],
      [seats('Viewer', 'grants'), seats('Editor', 'unknown')],
      Array.from({ length: 17 }, (_, i) => seats(`Seat ${i}`, 'not_in_space')),
    ],
  }
  const targets = ['http://127.0.0.1:1', 'http://127.0.0.1:2', null]
  const chosen: Record<string, unknown> = {}
  for (const [name, values] of Object.entries(choices)) chosen[name] = values[0]
  let target: string | null = targets[0] ?? null
  for (let turn = 0; turn < 2000; turn++) {
    // Mostly one thing changes, or nothing.
    const name = random.pick([...Object.keys(choices), 'target', 'nothing', 'nothing', 'nothing'])
    if (name === 'target') target = random.pick(targets)
    else if (name in choices) chosen[name] = random.pick(choices[name] ?? [])
    const decision = chosen as unknown as Decision
    const text = decisionFields(decision, target, '')
    const { space, seats: considered } = decision
    // Seats of its own, so that nothing is remembered.
    const fresh = decisionFields({ ...decision, seats: [...considered] }, target, '')
    // Seen twice, the text is kept: the next turn changes one thing, or nothing.
    for (let time = 0; time < 2; time++) decisionFields(decision, target, '')
    if (text !== fresh) return void t.equal(text, fresh, `turn ${turn}`)
    const named = considered.length === 0 && space === 's1' ? ['Named:named'] : []
    const all = considered.length > 0 ? considered.map((each) => `${each.name}:${each.verdict}`) : named
    const expected = all.length === 0 ? undefined : all
    const { seats: written, space: inSpace = null } = JSON.parse(`{${text.slice(1)}}`)
    t.same([written, inSpace], [expected, space])
  }
})
