import t from 'tap'
import { numbered, samePosition } from '../../src/coherence/feed-reading.ts'
import { position } from './support.ts'

t.test('the changes of a commit have consecutive numbers that end with its own', async (t) => {
  const changes = ['a', 'b', 'c'].map((key) => ({ tenant: 'acme', kind: 'seat' as const, key }))
  t.same(
    numbered({ seq: 9, mark: 5, changes }).map(({ key, seq, mark }) => [key, seq, mark]),
    [
      ['a', 7, 5],
      ['b', 8, 5],
      ['c', 9, 5],
    ],
  )
  t.same(numbered({ seq: 9, mark: 5, changes: [] }), [])
})

t.test('positions are equal by number and mark', async (t) => {
  t.ok(samePosition(position(3), position(3)))
  t.ok(samePosition(null, null))
  t.notOk(samePosition(position(3), position(4, position(3).mark)))
  t.notOk(samePosition(position(3), position(3, 77)), 'another history')
  t.notOk(samePosition(null, position(0, 0)))
  t.notOk(samePosition(position(0, 0), null))
})
