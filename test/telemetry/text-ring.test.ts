/** A ring of texts returns each text that is kept as it was, whatever came since. */

import t from 'tap'
import { TextRing } from '../../src/telemetry/text-ring.ts'
import { Random } from '../support/random.ts'

const KEPT = 50
const LETTERS = [...'abcdefghijklmnopqrstuvwxyz/é\xff']
/** Bytes of a new ring. */
const CAPACITY = 16 * 1024

interface Kept {
  readonly text: string
  readonly position: number
}

/** Adds texts, of which the newest are kept. @returns the first one that is not what it was; null: all were */
function changed(random: Random, count: number, lengthOf: (at: number) => number): Kept | null {
  const ring = new TextRing()
  const kept: Kept[] = []
  for (let at = 0; at < count; at++) {
    const text = Array.from({ length: lengthOf(at) }, () => random.pick(LETTERS)).join('')
    if (kept.length === KEPT) kept.shift()
    kept.push({ text, position: ring.add(text, kept[0]?.position ?? Infinity) })
    const wrong = kept.find((each) => ring.slice(each.position, 0, each.text.length) !== each.text)
    if (wrong !== undefined) return wrong
  }
  return null
}

t.test('texts of any length, round the buffer many times', async (t) => {
  const random = new Random(1)
  t.equal(
    changed(random, 3000, () => random.below(300)),
    null,
    'short',
  )
  t.equal(
    changed(random, 1000, () => random.pick([0, 5, 300, 1200])),
    null,
    'of which some make it grow',
  )
  t.equal(
    changed(random, 300, (at) => at * 10),
    null,
    'ever longer ones',
  )
})

t.test('a text longer than the buffer, first or last', async (t) => {
  const ring = new TextRing()
  const long = 'x'.repeat(40_000)
  const first = ring.add(long, Infinity)
  const second = ring.add('short', first)
  const third = ring.add(long, first)
  t.equal(ring.slice(first, 0, long.length), long)
  t.equal(ring.slice(second, 0, 5), 'short')
  t.equal(ring.slice(third, 0, long.length), long)
})

t.test(
  'to the byte: a text is not cut at the end of the buffer, and none overwrites the oldest',
  async (t) => {
    for (const missing of [0, 1, 2]) {
      const ring = new TextRing()
      ring.add('x'.repeat(CAPACITY - 10 + missing), Infinity)
      const last = ring.add('0123456789', Infinity)
      t.equal(ring.slice(last, 0, 10), '0123456789', `${missing} bytes are missing at the end`)
    }
    for (const more of [0, 1, 2]) {
      const ring = new TextRing()
      const oldest = ring.add('0123456789', Infinity)
      ring.add('x'.repeat(CAPACITY - 20), oldest)
      ring.add('y'.repeat(10), oldest)
      ring.add('z'.repeat(more), oldest)
      t.equal(ring.slice(oldest, 0, 10), '0123456789', `${more} bytes more than the buffer`)
    }
  },
)

t.test('a part of a text, and the empty text', async (t) => {
  const ring = new TextRing()
  const position = ring.add('0123456789', Infinity)
  const empty = ring.add('', position)
  t.equal(ring.slice(position, 2, 5), '234')
  t.equal(ring.slice(empty, 0, 0), '')
})
