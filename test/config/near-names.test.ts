/** The most similar name, which messages suggest. */

import fc from 'fast-check'
import t from 'tap'
import { nearest } from '../../src/config/invalid-value.ts'
import { leastStall } from '../support/stalls.ts'

/** The edit distance by its definition. */
function distance(a: string, b: string): number {
  const rows = [Array.from({ length: b.length + 1 }, (_, at) => at)]
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity
  for (let i = 1; i <= a.length; i++) {
    rows.push([i])
    for (let j = 1; j <= b.length; j++)
      rows[i]?.push(
        Math.min(at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1), at(i - 1, j) + 1, at(i, j - 1) + 1),
      )
  }
  return at(a.length, b.length)
}

const text = fc.string({ unit: fc.constantFrom('a', 'b', 'C', ':'), maxLength: 12 })

t.test('it is the first one with the fewest edits, of at most three', (t) => {
  fc.assert(
    fc.property(text, fc.array(text, { maxLength: 6 }), (word, words) => {
      const most = Math.min(3, Math.ceil(word.length / 3))
      const all = words.map((each) => [each, distance(word.toLowerCase(), each.toLowerCase())] as const)
      const least = Math.min(...all.map(([, edits]) => edits))
      const first = all.find(([, edits]) => edits === least && edits <= most)
      t.equal(nearest(word, words), first === undefined || first[0] === '' ? null : first[0])
    }),
  )
  t.end()
})

t.test('10,000 long permissions that are almost the same hold the event loop for a short time', async (t) => {
  const permission = (at: number) => `${'trainings'.repeat(5)}${String(at).padStart(5, '0')}:list-them-all`
  const words = Array.from({ length: 10_000 }, (_, at) => permission(at))
  const wrong = permission(1).replace('00001', 'xxxxx').replace('list', 'lixt')
  const { isShort, stall, result } = await leastStall(async () => nearest(wrong, words))
  t.equal(isShort, true, `${stall} ms`)
  t.equal(result, null)
})
