/** The checker of `seatgate verify`: each answer against the writes that were answered before its read began. */

import t from 'tap'
import {
  Coverage,
  distributionOf,
  type Read,
  Subject,
  type Violation,
  type Write,
} from '../../../src/cli/verify/staleness.ts'
import { RunRecord } from '../../../src/cli/verify/run-record.ts'
import { GatewayTime } from '../../../src/cli/verify/trial-tokens.ts'
import { Random } from '../../support/random.ts'
import { type Broken, simulate } from './simulated-fleet.ts'

function writeOf(operation: string, began: number, answered = Infinity): Write {
  return { operation, place: 'a', began, answered, requestId: `w-${operation}` }
}

function readOf(answer: string, began: number, ended: number): Read {
  return { place: 'b', began, ended, answer, requestId: 'r' }
}

function keyWith(...answers: string[]): Subject<null> {
  return new Subject('key', null, writeOf('make', 0, 1), answers)
}

t.test('a read that began after the 2xx shows the new state', async (t) => {
  const subject = keyWith('allow')
  const revoke = writeOf('revoke', 10)
  subject.begin(revoke, ['permission_denied'])
  revoke.answered = 20
  t.equal(subject.judge(readOf('permission_denied', 21, 22)), null)
  t.match(
    subject.judge(readOf('allow', 21, 22)),
    { kind: 'stale', subject: 'key', write: revoke, expected: ['permission_denied'] },
    'stale',
  )
  t.equal(subject.judge(readOf('allow', 20, 22)), null, 'began in the same moment: it may have come first')
})

t.test('a read that overlaps a write may show either state, and no other', async (t) => {
  const subject = keyWith('allow')
  const revoke = writeOf('revoke', 10)
  subject.begin(revoke, ['permission_denied'])
  for (const answer of ['allow', 'permission_denied']) t.equal(subject.judge(readOf(answer, 9, 11)), null)
  t.match(subject.judge(readOf('api_key_revoked', 9, 11)), { kind: 'grant_lost' })
  t.match(subject.judge(readOf('permission_denied', 8, 9)), { kind: 'grant_lost' }, 'before it was sent')
})

t.test('a write without a 2xx may be applied at any time', async (t) => {
  const subject = keyWith('permission_denied')
  subject.begin(writeOf('grant', 10), ['allow'])
  for (const answer of ['allow', 'permission_denied']) t.equal(subject.judge(readOf(answer, 90, 91)), null)
  t.throws(() => subject.begin(writeOf('revoke', 95), ['permission_denied']), /under way/)
})

t.test('a grant must hold', async (t) => {
  const subject = keyWith('permission_denied')
  const grant = writeOf('grant', 10, 20)
  subject.begin(grant, ['allow'])
  t.match(subject.judge(readOf('permission_denied', 30, 31)), { kind: 'stale', write: grant })
  t.match(subject.judge(readOf('api_key_invalid', 30, 31)), { kind: 'grant_lost', write: grant })
})

t.test('nothing is allowed that was never granted', async (t) => {
  t.match(keyWith('permission_denied').judge(readOf('allow', 5, 6)), { kind: 'unexpected' })
})

t.test('a state from before the last one is stale too', async (t) => {
  const subject = keyWith('allow')
  subject.begin(writeOf('delete', 10, 11), ['permission_denied'])
  const again = writeOf('again', 20, 21)
  subject.begin(again, ['permission_denied'])
  t.match(subject.judge(readOf('allow', 30, 31)), { kind: 'stale', write: again })
})

t.test('a read shows a write by an answer that the state before does not have', async (t) => {
  const subject = keyWith('allow')
  const rename = writeOf('rename', 10, 11)
  subject.begin(rename, ['allow'])
  t.equal(subject.shownBy(readOf('allow', 12, 13)), null)
  const revoke = writeOf('revoke', 20, 21)
  subject.begin(revoke, ['permission_denied'])
  t.equal(subject.shownBy(readOf('permission_denied', 20, 20.5)), revoke, 'before the 2xx, too')
  t.equal(subject.shownBy(readOf('allow', 20, 20.5)), null)
  t.equal(subject.shownBy(readOf('allow', 15, 16)), null)
})

t.test('a read tests a write if the state before it has another answer', async (t) => {
  const subject = keyWith('allow')
  const make = subject.testedBy(readOf('allow', 2, 3))
  t.match(make, { operation: 'make' }, 'no state before')
  const rename = writeOf('rename', 10, 11)
  subject.begin(rename, ['allow'])
  t.equal(subject.testedBy(readOf('allow', 12, 13)), null, 'the same answer')
  const revoke = writeOf('revoke', 20, 21)
  subject.begin(revoke, ['permission_denied'])
  t.equal(subject.testedBy(readOf('permission_denied', 22, 23)), revoke)
  t.equal(subject.testedBy(readOf('allow', 22, 23)), revoke, 'whatever the answer')
  t.equal(subject.testedBy(readOf('allow', 20.5, 22)), null, 'began before the 2xx')
  subject.begin(writeOf('grant', 30), ['allow'])
  t.equal(subject.testedBy(readOf('allow', 22, 31)), null, 'the next write allows it again')
})

t.test('an operation that no read at a place tested is reported', async (t) => {
  const record = new RunRecord(['a', 'b'], () => 0, 0)
  const subject = keyWith('allow')
  const [rename, revoke] = [writeOf('rename', 10, 11), writeOf('revoke', 20, 21)]
  subject.begin(rename, ['allow'])
  record.wrote(rename)
  record.read(subject, readOf('allow', 12, 13))
  subject.begin(revoke, ['permission_denied'])
  record.wrote(revoke)
  record.read(subject, readOf('permission_denied', 22, 23))
  const { not_tested: untested } = record.report(['rename', 'revoke', 'delete'])
  const why = 'no read that began after its 2xx could tell it from the state before'
  t.same(untested, [
    { what: 'rename', why },
    { what: 'revoke at a', why },
    { what: 'delete', why: 'the run ended before one was answered with 2xx' },
  ])
})

t.test('distributions are by nearest rank', async (t) => {
  t.same(distributionOf([]), { count: 0, p50: null, p99: null, max: null })
  t.same(distributionOf([7]), { count: 1, p50: 7, p99: 7, max: 7 })
  const hundred = Array.from({ length: 100 }, (_, at) => 100 - at)
  t.same(distributionOf(hundred), { count: 100, p50: 50, p99: 99, max: 100 })
})

t.test('the longest stretch without a read', async (t) => {
  const coverage = new Coverage(100)
  for (const began of [110, 150, 140, 160]) coverage.read({ began })
  t.equal(coverage.longest(165), 40)
  t.equal(coverage.longest(260), 100, 'the end counts')
  t.equal(new Coverage(0).longest(30), 30, 'no read at all')
})

t.test("a clock of this machine that jumps leaves the gateways' time alone", async (t) => {
  const { now } = Date
  t.teardown(() => (Date.now = now))
  const time = new GatewayTime()
  time.learn('2020-01-01T00:00:00.000Z')
  Date.now = () => now() + 24 * 3_600_000
  const hours = (time.now() - Date.parse('2020-01-01T00:00:00.000Z')) / 3_600_000
  t.ok(hours >= 0 && hours < 1, `${hours} hours later`)
})

const CORRECT = 1000
const BROKEN: readonly Broken[] = [
  'forgets a message',
  'acknowledges too early',
  'revives a name',
  'has a clock that jumps',
]

t.test('a correct fleet has no violation in a thousand runs under faults', async (t) => {
  const found = Array.from({ length: CORRECT }, (_, seed) => [seed, simulate(new Random(seed))] as const)
  t.same(
    found.filter(([, violations]) => violations.length > 0),
    [],
  )
})

for (const broken of BROKEN)
  t.test(`a fleet that ${broken} is found in every run`, async (t) => {
    const runs = Array.from({ length: 100 }, (_, seed) => simulate(new Random(seed), broken))
    t.same(
      runs.flatMap((violations, seed) => (violations.length === 0 ? [seed] : [])),
      [],
    )
    const kinds = new Set(runs.flat().map(({ kind }: Violation) => kind))
    t.same([...kinds], broken === 'has a clock that jumps' ? ['grant_lost'] : ['stale'])
  })
