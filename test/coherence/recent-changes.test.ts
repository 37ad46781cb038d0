/** What an instance remembers of changes, for people. */

import t from 'tap'
import { RecentChanges } from '../../src/coherence/recent-changes.ts'
import { change, position } from './support.ts'
import { setUp } from './fake-instance.ts'

const at = 1_764_164_700_000

function recent() {
  let now = at
  return {
    changes: new RecentChanges({ wall: () => now }),
    pass: (ms: number) => void (now += ms),
  }
}

t.test('each change once, with the time of its first sight, the newest first', async (t) => {
  const { changes, pass } = recent()
  changes.add([change('a', 1), change('A', 2, 'seat-name')])
  pass(5)
  changes.read({
    from: position(0, 0),
    head: position(3),
    changes: [change('a', 1), change('k', 3, 'api-key')],
  })
  t.same(changes.of('acme'), [
    { seq: 3, kind: 'api-key', at: at + 5, effective: null },
    { seq: 2, kind: 'seat-name', at, effective: null },
    { seq: 1, kind: 'seat', at, effective: null },
  ])
  t.same(changes.of('globex'), [], "another tenant's are not shown")
})

t.test('they hold no name, id or user', async (t) => {
  const { changes } = recent()
  changes.add([change('secret name', 1, 'seat-name')])
  t.notMatch(JSON.stringify(changes.of('acme')), 'secret')
})

t.test('the preview of a revocation is no change, and the revocation is one', async (t) => {
  const { changes } = recent()
  const notice = { at, subject: { user: 'alice' } }
  changes.add([change(JSON.stringify({ ...notice, count: true }), 1, 'revocation')])
  changes.add([change(JSON.stringify(notice), 2, 'revocation')])
  t.match(changes.of('acme'), [{ seq: 2, kind: 'revocation' }])
  t.equal(changes.of('acme').length, 1)
})

t.test('200 of a tenant are shown, and another tenant does not push them out', async (t) => {
  const { changes } = recent()
  changes.add([{ ...change('g', 1), tenant: 'globex' }])
  for (let seq = 2; seq < 1002; seq++) changes.add([change('a', seq)])
  const shown = changes.of('acme').map(({ seq }) => seq)
  t.equal(shown.length, 200)
  t.equal(shown[0], 1001)
  t.equal(shown[199], 802)
  t.match(changes.of('globex'), [{ seq: 1 }])
})

t.test('the first reading is of any age, and is not shown', async (t) => {
  const { changes } = recent()
  changes.read({ from: null, head: position(1), changes: [change('a', 1)] })
  t.same(changes.of('acme'), [])
})

t.test('a reading of another history forgets what was seen', async (t) => {
  const { changes } = recent()
  changes.add([change('a', 1)])
  changes.read({ from: position(1), head: position(1), changes: null })
  t.match(changes.of('acme'), [{ seq: 1 }], 'the head is known: it is the same history')
  changes.read({ from: position(1), head: position(1, 7), changes: null })
  t.same(changes.of('acme'), [])
  changes.add([change('a', 1)])
  changes.tookEffect([{ ...change('a', 1), mark: 7 }], 3)
  t.match(changes.of('acme'), [{ effective: null }], 'a number of another history')
})

t.test('an instance measures the changes that it wrote, and no others', async (t) => {
  const { store, bus, clock, instance, write } = setUp()
  await instance.start()
  await store.register('other', '')
  const state = write('mine')
  await clock.pass(0)
  t.match(instance.recent.of('acme'), [{ seq: 1, kind: 'seat', effective: null }], 'not yet everywhere')
  await clock.pass(20)
  bus.receiver?.acknowledged({ to: 'me', from: 'other', number: 1 })
  await clock.pass(0)
  t.ok(state.isAnswered)
  t.match(instance.recent.of('acme'), [{ seq: 1, effective: 20 }])
  bus.receiver?.announced({ from: 'other', number: 1, seq: 2, changes: [change('theirs', 2)] })
  await clock.pass(0)
  t.match(instance.recent.of('acme'), [
    { seq: 2, effective: null },
    { seq: 1, effective: 20 },
  ])
})
