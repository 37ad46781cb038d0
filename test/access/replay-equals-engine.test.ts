/** What a replay makes of a log line is what the engine decides on the request itself, for random tables and Seats. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import t, { type Test } from 'tap'
import {
  OfflineEngine,
  type OfflineRequest,
  seatsByName,
  type SeatSource,
} from '../../src/access/offline-engine.ts'
import { Judge, type Verdict } from '../../src/access/replay/judge.ts'
import { readLine } from '../../src/access/replay/logged-request.ts'
import type { Reason } from '../../src/access/replay/unjudged-reasons.ts'
import type { Decision, Evaluation } from '../../src/model/decision.ts'
import { type ErrorCode, Refusal } from '../../src/model/errors.ts'
import type { Principal, SeatClaims } from '../../src/model/principal.ts'
import type { Seat } from '../../src/model/decision-seat.ts'
import { EVERY_METHOD, everyPath, pairs, tablesOf } from './random-tables.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { accessLine } from '../../src/telemetry/access-log.ts'
import { NO_HOLDERS } from '../decision/seats/no-restrictions.ts'
import { firstExchange } from '../support/listener.ts'
import { ReceivedChanges } from '../../src/decision/seats/received-changes.ts'

const TARGET_BYTES = 200
const IDS = Array.from({ length: 26 }, (_, index) => `id${index}`)
const NAMES = [...IDS.map((id) => `of:${id}`), 'Nobody', 'Ã±"\\']
const SPACES = ['s1', 's2']

/** The Seats of one time. The name of an id may be another at another time. */
interface State {
  readonly byId: ReadonlyMap<string, Seat>
  readonly givenUpAt: ReadonlyMap<string, number | null>
}

const seat = fc.option(
  fc.record({
    name: fc.nat(NAMES.length - 1),
    spaces: fc.subarray(SPACES),
    permissions: fc.oneof(fc.subarray(['p:q', 'r:s']), fc.constant(['*']), fc.constant([])),
  }),
  { freq: 2 },
)
const time = fc.nat(9)
/** Of each name: when it was given up; null: never. */
const marks = fc.array(fc.option(time, { freq: 2 }), { minLength: NAMES.length, maxLength: NAMES.length })
const state = fc
  .tuple(fc.array(seat, { minLength: 26, maxLength: 26 }), marks)
  .map(([seats, times]): State => {
    const taken = new Set<string>()
    const byId = new Map<string, Seat>()
    for (const [index, each] of seats.entries()) {
      const [id, name] = [IDS[index] ?? '', NAMES[(index + (each?.name ?? 0)) % NAMES.length] ?? '']
      if (each === null || taken.has(name)) continue
      taken.add(name)
      const { spaces, permissions } = each
      byId.set(id, { id, name, complete: true, spaces: new Set(spaces), permissions: new Set(permissions) })
    }
    const givenUpAt = NAMES.map((name, index) => [name, times[index] ?? null] as const)
    return { byId, givenUpAt: new Map(givenUpAt) }
  })

function sourceOf({ byId, givenUpAt }: State): SeatSource {
  const byName = new Map([...byId.values()].map((each) => [each.name, each]))
  return {
    received: new ReceivedChanges(),
    seatByName: (_, name) => ({ seat: byName.get(name) ?? null, givenUpAt: givenUpAt.get(name) ?? null }),
    seatById: (_, id) => byId.get(id) ?? null,
    wholeSeat: async () => null,
    ...NO_HOLDERS,
  }
}

const issuedAt = fc.oneof(time, fc.constant(-Infinity))
/** Some, or more than a line has. */
const someOf = (all: string[]) =>
  fc.oneof(
    { weight: 3, arbitrary: fc.uniqueArray(fc.constantFrom(...all), { maxLength: 4 }) },
    { weight: 1, arbitrary: fc.subarray(all, { minLength: 19 }) },
  )
const names = someOf(NAMES)
const claims: fc.Arbitrary<SeatClaims> = fc.oneof(
  fc.record({
    by: fc.constant('id' as const),
    seats: someOf(IDS),
  }),
  fc.record({ by: fc.constant('any-space' as const), names, issuedAt }),
  fc.tuple(fc.dictionary(fc.constantFrom(...SPACES), names), issuedAt).map(([entries, at]) => ({
    by: 'name' as const,
    entries: new Map(Object.entries(entries)),
    issuedAt: at,
  })),
)
const CODES: readonly ErrorCode[] = [
  'credentials_missing',
  'api_key_revoked',
  'token_expired',
  'credentials_ambiguous',
]
const caller = fc.oneof(
  { weight: 4, arbitrary: claims.map((each): Principal => principalOf(each)) },
  { weight: 1, arbitrary: fc.constantFrom(...CODES).map((code) => new Refusal(code, '')) },
)

function principalOf(of: SeatClaims): Principal {
  const method = of.by === 'id' ? 'api-key' : 'bearer'
  const subject = { tenant: 'acme', user: 'a"/b', email: null, owner: null, issuedAt: Infinity }
  return { method, ...subject, claims: of, session: null, validUntil: null }
}

const PATHS = everyPath(2)
const BAD = [
  '//a',
  '/a#b',
  '/a?x#b',
  '/%zz',
  '/..',
  'x',
  '*',
  '/a/%2e',
  '/b;c#',
  'http://h/a',
  '/\x7f',
  '/Ã©',
  `/${'a'.repeat(300)}`,
  `/a?${'q'.repeat(300)}`,
]
const request = fc.record({
  method: fc.constantFrom(...EVERY_METHOD, 'TRACE'),
  target: fc.oneof(
    { weight: 9, arbitrary: fc.constantFrom(...PATHS) },
    { weight: 1, arbitrary: fc.constantFrom(...BAD) },
  ),
  caller,
  space: fc.constantFrom<string[]>(['s1'], ['s1'], ['s2'], [], ['no id!'], ['s1', 's2'], ['s1,s2']),
})
/** Of a refusal behind the decision. */
const LATER: readonly (ErrorCode | null)[] = [
  null,
  null,
  'upstream_timeout',
  'body_too_large',
  'request_malformed',
  'unavailable',
]

function decided(engine: OfflineEngine, asked: OfflineRequest): Evaluation {
  const evaluation = engine.decide(asked)
  if (evaluation instanceof Promise) throw new Error('all Seats are in memory')
  return evaluation
}

/** With the Seats of the store, and with those of a file, which knows them by name. */
t.test('the verdict on the line is the decision on the request', async (t) => {
  const lineOf = await logLines(t)
  const seen = new Set<string>()
  const count = (what: string) => seen.add(what)
  const one = fc.record({
    tables: pairs(2),
    before: state,
    after: state,
    asked: fc.array(fc.tuple(request, fc.option(fc.nat(50))), { minLength: 20, maxLength: 20 }),
    later: fc.constantFrom(...LATER),
  })
  const holds = fc.property(one, ({ tables, before, after, asked, later }) => {
    const [was, is] = [tablesOf(tables[0]), tablesOf(tables[1])]
    const old = new OfflineEngine(was, sourceOf(before), TARGET_BYTES)
    const common = { tables: is, tenants: new Set(['acme']), targetBytes: TARGET_BYTES }
    const subjects = [
      { ...common, seats: sourceOf(after), onlyTenant: null },
      { ...common, seats: seatsByName(listOf(after)), onlyTenant: 'acme' },
    ]
    const lines = [...tables[0].lines, ...tables[1].lines]
    for (const [made, at] of asked) {
      const each = at === null ? made : { ...made, ...requestFor(lines[at % lines.length], made) }
      if (!was.methods.has(each.method)) continue
      const then = decided(old, each)
      const line = lineOf(then, each.method, then.decision.code === 'allow' ? later : null)
      const logged = readLine(line)
      if (typeof logged === 'string') throw new Error(`${logged}: ${line}`)
      assert.equal(logged.code, then.decision.code)
      for (const { verdict } of then.decision.seats) count(verdict)
      for (const subject of subjects) {
        const verdict = new Judge(subject).judge(logged)
        if (verdict instanceof Promise) throw new Error('all Seats are in memory')
        const now = new OfflineEngine(is, subject.seats, TARGET_BYTES)
        const same = subject.onlyTenant === null ? each : { ...each, caller: byName(each.caller, before) }
        const what = compare(
          verdict,
          then.decision,
          each.space,
          is.methods.has(each.method) ? decided(now, same).decision : MALFORMED,
        )
        count(what)
      }
    }
  })
  const missing = () => WANTED.filter((what) => !seen.has(what))
  for (let round = 0; round === 0 || (missing().length > 0 && round < MOST_ROUNDS); round++)
    fc.assert(holds, { numRuns: 200 })
  t.same(missing(), [])
})

/** The rarest verdict comes up three times a hundred runs. */
const MOST_ROUNDS = 25

/** Verdicts on lines, and on the Seats of the requests. */
const WANTED = [
  'grants',
  'lacks_permission',
  'not_in_space',
  'unknown',
  'name_given_up',
  'same',
  'allow → deny',
  'deny → allow',
  'deny → deny',
  'credential_not_read',
  'seats_truncated',
  'seat_names_not_logged',
]
const MALFORMED = { code: 'request_malformed', route: null }

type Answer = Pick<Decision, 'route'> & { readonly code: string }

/** @returns the kind of the verdict; throws where it is wrong */
function compare(verdict: Verdict | Reason, then: Decision, space: readonly string[], now: Answer): string {
  const { code, route, principal } = then
  if (typeof verdict === 'string') {
    const needsCaller = now.route !== null && now.route.requirement !== 'public'
    const wasRead = route !== null && route.requirement !== 'public'
    if (verdict === 'credential_not_read') assert.ok(!wasRead && needsCaller)
    else if (verdict === 'seats_truncated')
      assert.ok(principal !== null && needsCaller && countOf(principal.claims, space[0] ?? '') > 20)
    else if (verdict === 'target_not_logged') assert.equal(code, 'uri_too_long')
    else if (verdict === 'seat_names_not_logged')
      assert.ok(principal?.claims.by === 'id' && route?.requirement === 'authenticated' && needsCaller)
    else throw new Error(verdict)
    return verdict
  }
  if (code === 'request_malformed' && route === null) assert.equal(verdict.to, code)
  else if (route === null && now.route?.requirement === 'public' && !isOne(space))
    // The line of a request without a route does not say that its Space is repeated.
    assert.equal(verdict.to, 'allow')
  else assert.deepEqual(verdict, { to: now.code, route: now.route?.id ?? null })
  if (verdict.to === code) return 'same'
  return `${code === 'allow' ? 'allow' : 'deny'} → ${verdict.to === 'allow' ? 'allow' : 'deny'}`
}

function listOf({ byId }: State) {
  return [...byId.values()].map(({ name, spaces, permissions }) => ({
    name,
    spaces: [...spaces],
    permissions: [...permissions],
  }))
}

/** A file of Seats knows those of an API key by their names of that time, or by the id where a Seat was gone. */
function byName(who: Principal | Refusal, { byId }: State): Principal | Refusal {
  if (who instanceof Refusal || who.claims.by !== 'id') return who
  const known = who.claims.seats.map((id) => byId.get(id)?.name ?? id)
  return principalOf({ by: 'any-space', names: known, issuedAt: 0 })
}

function isOne(space: readonly string[]): boolean {
  return space.length < 2 && !(space[0] ?? '').includes(',')
}

function countOf(of: SeatClaims, space: string): number {
  if (of.by === 'id') return of.seats.length
  if (of.by === 'membership') return 0
  return of.by === 'name' ? (of.entries.get(space) ?? []).length : of.names.length
}

/** A request that matches the entry. */
function requestFor(line: string | undefined, { method, target }: OfflineRequest) {
  const [, named = 'ANY', pattern = target] = /^(\S+) (\S+):/.exec(line ?? '') ?? []
  return { method: named === 'ANY' ? method : named, target: pattern.replace(/\{\w+\}/g, 'x') }
}

type LineOf = (evaluation: Evaluation | null, method: string, later?: ErrorCode | null) => string

/** @returns makes a line; `later` is the code of a refusal behind the decision */
async function logLines(t: Test): Promise<LineOf> {
  const { port, asked } = await firstExchange(t)
  const answer = fetch(`http://127.0.0.1:${port}/`)
  const { request, response } = await asked
  t.teardown(async () => {
    response.writeHead(200, ResponseFields.of(['content-length', '0']))
    response.end()
    await answer
  })
  return (evaluation, method, later = null) => {
    Object.defineProperty(request, 'method', { value: method, configurable: true })
    const exchange = new Exchange(request, response, 'an-id', 0)
    exchange.evaluation = evaluation
    exchange.refusal = evaluation?.refusal ?? (later === null ? null : new Refusal(later, ''))
    const time = '2026-01-05T00:00:00.003Z'
    return `{"level":"info","time":"${time}",${accessLine(exchange)},"msg":"request"}`
  }
}
