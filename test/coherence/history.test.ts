import fc from 'fast-check'
import t from 'tap'
import type { NumberedChange } from '../../seats-admin/model/change.ts'
import { History } from '../../src/coherence/history.ts'
import { change, position } from './support.ts'

const of = (key: string) => ({ tenant: 'acme', kind: 'seat' as const, key })

/** A history that has read one change of each of `keys`. */
function historyOf(...keys: string[]): History {
  const history = new History()
  const changes = keys.map((key, index) => change(key, index + 1))
  history.applyReading(changes, position(keys.length))
  return history
}

t.test('no value counts before the first reading', async (t) => {
  t.equal(new History().isCurrent(position(1), of('a')), false)
})

t.test('a value counts if it was read at or after its last change', async (t) => {
  const history = historyOf('a', 'b', 'a', 'b')
  t.equal(history.isCurrent(position(2), of('a')), false)
  t.equal(history.isCurrent(position(3), of('a')), true, 'read at the change itself')
  t.equal(history.isCurrent(position(4), of('a')), true)
  t.equal(history.isCurrent(position(3), of('b')), false)
  t.equal(history.isCurrent(position(1), of('c')), true, 'never changed')
})

t.test('a value newer than the newest reading does not count', async (t) => {
  t.equal(historyOf('a').isCurrent(position(2), of('a')), false)
})

t.test('a value of another history does not count', async (t) => {
  const history = historyOf('a', 'b')
  t.equal(history.isCurrent(position(2, 77), of('c')), false)
  t.equal(history.isCurrent(position(1, 77), of('c')), false)
})

t.test('keys of other kinds and tenants are different keys', async (t) => {
  const history = historyOf('a', 'x')
  history.applyAnnouncement([change('a', 3, 'seat-name')])
  t.equal(history.isCurrent(position(2), of('a')), true)
  t.equal(history.isCurrent(position(2), { ...of('a'), kind: 'seat-name' }), false)
  t.equal(history.isCurrent(position(2), { ...of('a'), kind: 'seat-name', tenant: 'other' }), true)
})

t.test('a revocation that lists no API keys: no earlier value of a key of the tenant counts', async (t) => {
  const key = { tenant: 'acme', kind: 'api-key' as const, key: 'k1' }
  const notice = (more: object) => JSON.stringify({ at: 1, subject: { user: 'u' }, ...more })
  const history = historyOf('a', 'x')
  history.applyAnnouncement([
    change(notice({ listed: true }), 3, 'revocation'),
    change(notice({ count: true }), 4, 'revocation'),
  ])
  t.equal(history.isCurrent(position(2), key), true, 'each key has a change of its own')
  history.applyAnnouncement([change(notice({}), 5, 'revocation')])
  t.equal(history.isCurrent(position(2), key), false)
  t.equal(history.isCurrent(position(2), { ...key, tenant: 'globex' }), true)
  t.equal(history.isCurrent(position(2), of('a')), true, 'Seats are not revoked')
  const changes = [
    change(notice({ listed: true }), 3, 'revocation'),
    change(notice({ count: true }), 4, 'revocation'),
    change(notice({}), 5, 'revocation'),
  ]
  history.applyReading(changes, position(5))
  t.equal(history.isCurrent(position(4), key), false)
  t.equal(history.isCurrent(position(5), key), true, 'read after it')
})

t.test('an announcement counts as a reading does, also when late or duplicated', async (t) => {
  const history = historyOf('a', 'b')
  history.applyAnnouncement([change('a', 5)])
  t.equal(history.isCurrent(position(2), of('a')), false)
  history.applyAnnouncement([change('a', 4), change('a', 5)])
  history.applyReading([change('c', 3), change('a', 4)], position(4))
  t.equal(history.isCurrent(position(4), of('a')), false, 'no reading has reached 5')
  history.applyReading([change('a', 5)], position(5))
  t.equal(history.isCurrent(position(5), of('a')), true)
})

t.test('when changes are missing, only values read at the head count', async (t) => {
  const history = historyOf('a', 'b')
  history.applyReading(null, position(9))
  t.equal(history.isCurrent(position(2), of('c')), false)
  t.equal(history.isCurrent(position(8), of('c')), false)
  t.equal(history.isCurrent(position(9), of('c')), true)
  t.equal(history.isCurrent(position(9), of('a')), true)
  t.equal(history.isCurrent(position(9, 77), of('a')), false)
})

t.test('announced changes beyond that are retained', async (t) => {
  const history = historyOf('a', 'b')
  history.applyAnnouncement([change('a', 10), change('b', 9)])
  history.applyReading(null, position(9))
  t.equal(history.isCurrent(position(9), of('a')), false)
  t.equal(history.isCurrent(position(9), of('b')), true)
})

t.test('a first reading knows the changes it received and none before', async (t) => {
  const history = new History()
  history.applyReading([change('a', 8), change('b', 9)], position(9))
  t.equal(history.isCurrent(position(7), of('c')), false, 'its mark is unknown')
  t.equal(history.isCurrent(position(8), of('c')), true)
  t.equal(history.isCurrent(position(6), of('c')), false)
})

t.test('retains the newest 10,000 changes, and no value older than those counts', async (t) => {
  const history = historyOf(...Array.from({ length: 12_000 }, (_, index) => `k${index % 3000}`))
  t.equal(history.retained().length, 10_000)
  t.equal(history.isCurrent(position(2000), of('other')), false)
  t.equal(history.isCurrent(position(2001), of('other')), true)
  t.equal(history.isCurrent(position(11_999), of('k2999')), false)
  t.equal(history.isCurrent(position(11_999), of('k2998')), true)
  t.equal(history.isCurrent(position(9000), of('k0')), false, 'changed at 1, which is dropped, and at 9,001')
})

t.test('the bound also holds for a history that starts at a later number', async (t) => {
  const history = new History()
  const changes = Array.from({ length: 11_000 }, (_, index) => change('a', 50_001 + index))
  history.applyReading(changes.slice(0, 1000), position(51_000))
  history.applyReading(changes.slice(1000), position(61_000))
  t.equal(history.retained().length, 10_000)
  t.equal(history.retained()[0]?.seq, 51_001)
})

t.test('announced changes that no reading shows do not fill it, and no value counts by them', async (t) => {
  const history = historyOf('a', 'b')
  const foreign = Array.from({ length: 20_001 }, (_, index) => change(`k${index}`, index + 3))
  history.applyAnnouncement(foreign)
  t.equal(history.isCurrent(position(2), of('c')), false, 'no value counts until readings have caught up')
  history.applyReading([change('a', 3)], position(3))
  t.equal(history.isCurrent(position(3), of('k1')), false)
  t.equal(history.isCurrent(position(3), of('c')), false)
})

/** One change of each of more keys than announcements may hold at once. */
const flood = (first: number) =>
  Array.from({ length: 20_001 }, (_, index) => change(`k${index}`, first + index))

t.test('the same after a reading without changes, which may only be behind', async (t) => {
  for (const head of [2, 9]) {
    const history = historyOf('a', 'b')
    history.applyAnnouncement(flood(head + 1))
    history.applyReading(null, position(head))
    t.equal(history.isCurrent(position(head), of('k0')), false)
    t.equal(history.isCurrent(position(head), of('c')), false)
  }
})

t.test('until a reading is of another history', async (t) => {
  for (const head of [position(1), position(2, 77)]) {
    const history = historyOf('a', 'b')
    history.applyAnnouncement(flood(1_000_000))
    history.applyReading(null, head)
    t.equal(history.isCurrent(head, of('c')), true)
    history.applyAnnouncement(flood(3))
    t.equal(history.isCurrent(head, of('c')), false)
    history.applyReading([...historyOf('a', 'b').retained().slice(head.seq), ...flood(3)], position(20_003))
    t.equal(history.isCurrent(position(20_003), of('c')), true, 'numbers of the history before are ignored')
  }
})

t.test('a history that starts with the changes of another gives the same results', async (t) => {
  const first = historyOf('a', 'b', 'c', 'a')
  const second = new History()
  second.applyReading(first.retained(), first.head ?? position(0, 0))
  for (const key of ['a', 'b', 'c', 'd'])
    for (const seq of [1, 2, 3, 4, 5])
      t.equal(
        second.isCurrent(position(seq), of(key)),
        first.isCurrent(position(seq), of(key)),
        `${key} at ${seq}`,
      )
})

/** A step: read the next changes (take), read without changes (lose), or receive an announcement near the head (hear). */
const step = fc.record({ kind: fc.constantFrom('take', 'lose', 'hear'), number: fc.nat(6) })

const FEED = Array.from({ length: 60 }, (_, index) => change('abc'[(index * 7) % 5] ?? 'd', index + 1))

t.test('no outdated value counts, in any order of readings and announcements', async (t) => {
  const acceptsOutdated = (steps: readonly { kind: string; number: number }[]) => {
    const history = new History()
    const announced = new Set<NumberedChange>()
    let head = 0
    for (const { kind, number } of steps) {
      if (kind === 'hear') {
        const message = FEED.slice(Math.max(0, head + number - 3)).slice(0, 1)
        for (const each of message) announced.add(each)
        history.applyAnnouncement(message)
      } else {
        const next = FEED.slice(head, head + number)
        head += next.length
        history.applyReading(kind === 'take' ? next : null, head === 0 ? position(0, 0) : position(head))
      }
    }
    const isOutdated = (key: string, at: number) =>
      FEED.some((each) => each.key === key && each.seq > at && (each.seq <= head || announced.has(each)))
    return FEED.some(({ seq }) =>
      'abcd'.split('').some((key) => history.isCurrent(position(seq), of(key)) && isOutdated(key, seq)),
    )
  }
  const result = fc.check(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => !acceptsOutdated(steps)),
    { numRuns: 2000 },
  )
  t.equal(result.failed, false, fc.defaultReportMessage(result) ?? '')
})
