/** Fields that are the same in many lines are those of each request all the same. */

import t from 'tap'
import type { ConsideredSeat, Decision } from '../../src/model/decision.ts'
import type { Principal } from '../../src/model/principal.ts'
import { UNSCOPED, type Route } from '../../src/model/route.ts'
import {
  decisionFields,
  hostText,
  principalFields,
  senderFields,
} from '../../src/telemetry/repeated-fields.ts'
import { Random } from '../support/random.ts'

const parsed = (fields: string) => JSON.parse(`{${fields}}`) as unknown

t.test('requests of one connection with other addresses and user agents', async (t) => {
  const [one, other] = [{}, {}]
  const senders: [client: string | null, peer: string | null, userAgent: string | null][] = [
    ['192.0.2.1', '192.0.2.1', 'curl/8'],
    ['192.0.2.1', '192.0.2.1', 'curl/8'],
    ['198.51.100.7', '192.0.2.1', 'curl/8'],
    ['192.0.2.1', '192.0.2.1', 'a "quoted" one'],
    ['192.0.2.1', '192.0.2.1', null],
    ['192.0.2.1', '192.0.2.1', '\u00e9'],
    ['192.0.2.1', '192.0.2.1', 'x'.repeat(300)],
    // The peer closes the connection.
    [null, null, 'x'.repeat(300)],
    [null, null, 'curl/8'],
    ['192.0.2.1', '192.0.2.1', 'curl/8'],
  ]
  for (const connection of [one, other, one])
    for (const [client, peer, userAgent] of senders) {
      const agent = userAgent === null ? {} : { user_agent: userAgent }
      t.same(parsed(senderFields(connection, client, peer, userAgent)), { client, peer, ...agent })
    }
})

t.test('callers with texts of any kind', async (t) => {
  const callers = ['alice', 'bob', '日本', 'a"b\\', '\ud800', '\u007f\u2028', 'x'.repeat(2000)].map(callerOf)
  for (let turn = 0; turn < 2; turn++)
    for (const caller of callers)
      t.same(parsed(principalFields(caller).slice(1)), {
        tenant: 'acme',
        user: caller.user,
        auth: 'bearer',
        issued_at: 100,
      })
})

function callerOf(user: string): Principal {
  return {
    method: 'bearer',
    tenant: 'acme',
    user,
    email: null,
    claims: { by: 'name', entries: new Map([['s1', ['Named']]]), issuedAt: 100 },
    session: null,
    validUntil: null,
  }
}

function routeOf(path: string): Route {
  return {
    ...UNSCOPED,
    ...{ id: `GET ${path}`, method: 'GET', path, requirement: 'a:b', maxBody: 0, responseTimeout: null },
    ...{ signIn: null, cors: null, place: null, rateLimits: [], target: { kind: 'upstream', name: 'main' } },
  }
}

t.test('callers that repeat their requests, in any order', async (t) => {
  const random = new Random(1)
  const callers = ['alice', 'bob', 'x'.repeat(2000)].map(callerOf)
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
    const { principal, space, seats: considered } = decision
    // A caller of its own, of whom nothing is kept.
    const fresh = decisionFields({ ...decision, principal: principal && { ...principal } }, target, '')
    if (text !== fresh) return void t.equal(text, fresh, `turn ${turn}`)
    const named = considered.length === 0 && space === 's1' ? ['Named:named'] : []
    const all = considered.length > 0 ? considered.map((each) => `${each.name}:${each.verdict}`) : named
    const expected = all.length === 0 ? undefined : all
    const { seats: written, space: inSpace = null } = parsed(text.slice(1)) as Record<string, unknown>
    t.same([written, inSpace], [expected, space])
  }
})

t.test('hosts in turn', async (t) => {
  const cases = [
    ['A.example:8080', 'a.example'],
    ['a.example', 'a.example'],
    ['[::1]:80', '[::1]'],
    ['[::1]', '[::1]'],
    [`${'x'.repeat(300)}:1`, 'x'.repeat(255)],
    ['\u00e9.example', '\u00e9.example'],
    ['', ''],
  ] as const
  for (let turn = 0; turn < 2; turn++)
    for (const [host, name] of cases)
      for (let again = 0; again < 2; again++) t.equal(JSON.parse(hostText(host)), name)
  t.equal(hostText(null), 'null')
})
