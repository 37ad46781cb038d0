/** A planted fault for each property of the checker of orders: it is found, and the text names the operations concerned. */

import t from 'tap'
import { checkHistory, disorderText } from '../../../src/cli/verify/order-report.ts'
import type { Answer, Operation, Invocation } from '../../../src/cli/verify/tenant-operations.ts'
import { Random } from '../../support/random.ts'
import { type Fault, simulateHistory } from './simulated-tenant.ts'

const READ = 'canary:read'

type Line = readonly [began: number, ended: number, invocation: Invocation, answer: Answer | string | null]

/** Each line is asked by a person of its own. */
function historyOf(lines: readonly Line[]): Operation[] {
  return lines.map(([began, ended, invocation, answer], at) => ({
    invocation,
    answer: typeof answer === 'string' ? { code: answer } : answer,
    began,
    ended,
    by: `person ${at}`,
    place: 'gateway',
    requestId: `r${at}`,
  }))
}

const make = (id: string, name: string, permissions: string, at: number): Line => [
  at,
  at + 1,
  { kind: 'create Seat', name, permissions },
  { code: 'ok', id, name, permissions, tag: `"${id}1"` },
]
const A = make('A', 'a', READ, 0)
const B = make('B', 'b', '', 2)
const KEY: Line = [4, 5, { kind: 'create key', seats: ['a'] }, { code: 'ok', id: 'K', tag: '"K1"' }]
const read = (id: string): Invocation => ({ kind: 'read Seat', id })
const byToken = (...names: string[]): Invocation => ({ kind: 'decide by token', names, permission: READ })
const byKey: Invocation = { kind: 'decide by key', id: 'K', permission: READ }
const shown = (name: string, permissions: string, tag: string): Answer => ({
  code: 'ok',
  name,
  permissions,
  tag,
})
const revoke: Invocation = { kind: 'update Seat', id: 'A', permissions: '' }
const REVOKED: Line = [10, 12, revoke, shown('a', '', '"A2"')]
const rename: Invocation = { kind: 'update Seat', id: 'A', name: 'c' }
const RENAMED: Line = [10, 12, rename, shown('c', READ, '"A2"')]
const move: Invocation = {
  kind: 'apply',
  seats: [
    { name: 'a', permissions: '' },
    { name: 'b', permissions: READ },
  ],
  versions: null,
}
const moved: Answer = {
  code: 'ok',
  changes: [
    { action: 'update', name: 'a', id: 'A' },
    { action: 'update', name: 'b', id: 'B' },
  ],
}

/** Name → the lines, of which the last one contradicts the others, and what it could have been. */
const FAULTS: Readonly<Record<string, readonly [lines: readonly Line[], possible: RegExp]>> = {
  'a read that is stale after a 2xx': [
    [A, REVOKED, [13, 14, read('A'), shown('a', READ, '"A1"')]],
    /ok "a" \{\} "A2"/,
  ],
  'a decision that is stale after a 2xx': [
    [A, REVOKED, [13, 14, byToken('a'), 'allow']],
    /permission_denied/,
  ],
  'an acknowledged write that is lost': [
    [A, REVOKED, [13, 14, read('A'), shown('a', '', '"A2"')], [15, 16, read('A'), shown('a', READ, '"A1"')]],
    /"A2"/,
  ],
  'a write that took effect after its 4xx': [
    [
      A,
      [10, 12, { ...revoke, ifMatch: '"A0"' }, 'precondition_failed'],
      [13, 14, read('A'), shown('a', '', '"A2"')],
    ],
    /ok "a" \{canary:read\} "A1"/,
  ],
  'a write of unknown result that took effect twice': [
    [
      A,
      [3, Infinity, { kind: 'update Seat', id: 'A', permissions: '' }, null],
      [10, 11, read('A'), shown('a', '', '"A2"')],
      [12, 13, { kind: 'update Seat', id: 'A', permissions: READ }, shown('a', READ, '"A3"')],
      [14, 15, read('A'), shown('a', '', '"A4"')],
    ],
    /"A3"/,
  ],
  'a changed Seat that has the tag of an earlier version': [
    [A, [3, Infinity, revoke, null], [10, 11, read('A'), shown('a', '', '"A1"')]],
    /ok "a" \{\} another tag/,
  ],
  'a changed Seat that has the tag of a write to another one': [
    [A, B, [3, Infinity, revoke, null], [10, 11, read('A'), shown('a', '', '"B1"')]],
    /ok "a" \{\} another tag/,
  ],
  'a 412 that should have been a 200': [
    [A, [10, 12, { ...revoke, ifMatch: '"A1"' }, 'precondition_failed']],
    /ok "a" \{\}/,
  ],
  'a 200 that should have been a 412': [
    [A, REVOKED, [13, 14, { ...rename, ifMatch: '"A1"' }, shown('c', '', '"A3"')]],
    /precondition_failed/,
  ],
  'a file that was applied although a version was another one': [
    [A, B, REVOKED, [13, 14, { ...move, kind: 'apply', versions: { a: '"A1"', b: '"B1"' } }, moved]],
    /precondition_failed/,
  ],
  'a name that was taken twice': [[A, make('B', 'a', '', 3)], /seat_name_taken/],
  'a name that a rename took twice': [
    [A, B, [10, 12, { kind: 'update Seat', id: 'B', name: 'a' }, shown('a', '', '"B2"')]],
    /seat_name_taken/,
  ],
  'a decision that is torn over two Seats': [
    [A, B, [10, 14, move, moved], [11, 13, byToken('a', 'b'), 'permission_denied']],
    /allow/,
  ],
  'a decision that is torn over the Seats of a key': [
    [
      A,
      B,
      [4, 5, { kind: 'create key', seats: ['a', 'b'] }, { code: 'ok', id: 'K', tag: '"K1"' }],
      [10, 14, move, moved],
      [11, 13, byKey, 'permission_denied'],
    ],
    /allow/,
  ],
  'a decision that is torn over a key and its Seat': [
    [
      A,
      KEY,
      [6, 7, revoke, shown('a', '', '"A2"')],
      [10, 30, { kind: 'revoke key', id: 'K' }, 'ok'],
      [11, 12, { kind: 'read key', id: 'K' }, { code: 'ok', seats: 'a', revoked: true, tag: '"K2"' }],
      [13, 20, { kind: 'update Seat', id: 'A', permissions: READ }, shown('a', READ, '"A3"')],
      [14, 15, byKey, 'allow'],
    ],
    /api_key_revoked, or permission_denied/,
  ],
  'a revoked key that still works': [
    [A, KEY, [10, 11, { kind: 'revoke key', id: 'K' }, 'ok'], [12, 13, byKey, 'allow']],
    /api_key_revoked/,
  ],
  'a rename that shows both names, to decisions': [
    [A, RENAMED, [13, 14, byToken('c'), 'allow'], [15, 16, byToken('a'), 'allow']],
    /permission_denied/,
  ],
  'a rename that shows both names, to writes': [
    [A, RENAMED, [13, 14, { kind: 'create Seat', name: 'a', permissions: '' }, 'seat_name_taken']],
    /ok "a"/,
  ],
  'a name that revives a token': [
    [
      A,
      [10, 11, { kind: 'delete Seat', id: 'A' }, 'ok'],
      make('C', 'a', READ, 12),
      [14, 15, byToken('a'), 'allow'],
    ],
    /permission_denied/,
  ],
  'a key that does not follow its Seat': [[A, KEY, RENAMED, [13, 14, byKey, 'no_seat_in_space']], /allow/],
  'a 404 of a Seat that exists': [[A, [3, 4, read('A'), 'seat_not_found']], /ok "a"/],
}

for (const [fault, [lines, possible]] of Object.entries(FAULTS))
  t.test(fault, async (t) => {
    const { disorders, unchecked } = checkHistory(historyOf(lines))
    t.equal(unchecked, 0)
    t.equal(disorders.length, 1)
    const [disorder] = disorders
    if (disorder === undefined) return
    t.equal(disorder.operation.by, `person ${lines.length - 1}`, 'the last one is the first to contradict')
    const text = disorderText(disorder)
    t.match(text, new RegExp(`^> \\[[0-9.]+, [0-9.]+\\] person ${lines.length - 1} at gateway: `, 'm'))
    t.match(text, new RegExp(`it could have been: .*${possible.source}`))
    t.match(text, /^ {2}\[0.0, 1.0\] person 0 at gateway: create Seat "a" \{canary:read\} → ok A/m)
    const before = checkHistory(historyOf(lines.slice(0, -1)))
    t.same(before.disorders, [], 'the others by themselves have an order')
  })

/** What resembles a fault, and is none. */
const RIGHT: Readonly<Record<string, readonly Line[]>> = {
  'a read that overlaps the write shows the state before it': [
    A,
    REVOKED,
    [11, 14, read('A'), shown('a', READ, '"A1"')],
  ],
  'a decision on the state before a write that only reads have shown': [
    A,
    [10, 20, revoke, shown('a', '', '"A2"')],
    [11, 12, read('A'), shown('a', '', '"A2"')],
    [13, 14, byToken('a'), 'allow'],
  ],
  'a decision on the state before a write without an answer': [
    A,
    [10, Infinity, revoke, null],
    [11, 12, read('A'), shown('a', '', '"A2"')],
    [30, 31, byToken('a'), 'allow'],
    [32, 33, byToken('a'), 'permission_denied'],
  ],
  'a write without an answer takes effect late, or never': [
    A,
    [3, Infinity, revoke, null],
    [10, 11, read('A'), shown('a', READ, '"A1"')],
    [20, 21, read('A'), shown('a', '', '"A2"')],
  ],
  'a Seat of unknown id holds its name, and a file tells the id': [
    [0, Infinity, { kind: 'create Seat', name: 'a', permissions: '' }, null],
    [10, 11, { kind: 'create Seat', name: 'a', permissions: '' }, 'seat_name_taken'],
    B,
    [20, 21, move, { code: 'ok', changes: [{ action: 'update', name: 'b', id: 'B' }] }],
    [
      22,
      23,
      { ...move, kind: 'apply', seats: [{ name: 'a', permissions: READ }] },
      { code: 'ok', changes: [{ action: 'update', name: 'a', id: 'A' }] },
    ],
    [24, 25, read('A'), shown('a', READ, '"A2"')],
  ],
  'two writers of one version: one of them gets the 412': [
    A,
    [10, 14, { ...revoke, ifMatch: '"A1"' }, shown('a', '', '"A2"')],
    [10, 13, { ...rename, ifMatch: '"A1"' }, 'precondition_failed'],
  ],
}

for (const [what, lines] of Object.entries(RIGHT))
  t.test(what, async (t) => {
    const { disorders, unchecked } = checkHistory(historyOf(lines))
    t.same(
      disorders.map((each) => disorderText(each)),
      [],
    )
    t.equal(unchecked, 0)
  })

/** Faults that happen now and then, among hundreds of right answers. */
const SIMULATED: Readonly<Record<string, (random: Random) => Fault>> = {
  'answers a write that it does not make': (random) => (invocation) =>
    invocation.kind === 'delete Seat' && invocation.ifMatch === undefined && random.chance(0.5)
      ? { code: 'ok' }
      : null,
  'makes a write that it refuses': (random) => (invocation, tenant) => {
    if (invocation.kind !== 'update Seat' || invocation.permissions === undefined || !random.chance(0.3))
      return null
    return tenant.perform(invocation).code === 'ok' ? { code: 'precondition_failed' } : null
  },
  'ignores If-Match': () => (invocation, tenant) => {
    if (!('ifMatch' in invocation)) return null
    const { ifMatch: _, ...unconditional } = invocation
    return tenant.perform(unconditional)
  },
  'lets a revoked key through': (random) => (invocation, tenant) =>
    invocation.kind === 'decide by key' &&
    tenant.perform(invocation).code === 'api_key_revoked' &&
    random.chance(0.5)
      ? { code: 'allow' }
      : null,
}

for (const [how, fault] of Object.entries(SIMULATED))
  t.test(`a tenant that ${how} is found`, async (t) => {
    const options = { administrators: 5, callers: 4, invocations: 25, lost: 0.02 }
    let found = 0
    for (let seed = 0; seed < 20; seed++) {
      const random = new Random(seed)
      const { disorders, unchecked } = checkHistory(simulateHistory(random, options, fault(random)))
      t.equal(unchecked, 0)
      found += Math.sign(disorders.length)
    }
    t.ok(found >= 15, `found in ${found} of 20`)
  })
