/** Text for a screen: nothing is lost, nothing is longer than it must be. */

import fc from 'fast-check'
import t from 'tap'
import { columns, fitted, fold } from '../../src/cli/screen.ts'

const word = fc.stringMatching(/^[a-z/{}]{1,100}$/)
const words = fc.array(word, { minLength: 1, maxLength: 40 })

t.test('fold', async (t) => {
  fc.assert(
    fc.property(words, fc.nat(20), fc.nat(20), (given, first, others) => {
      const lines = fold(given.join(' '), ' '.repeat(first), ' '.repeat(others)).split('\n')
      t.same(
        lines.flatMap((line) => line.trim().split(' ')),
        given,
      )
      for (const [at, line] of lines.entries()) {
        const next = lines[at + 1]?.trim().split(' ')[0]
        if (line.trim().includes(' ')) t.ok(line.length <= 80, 'only a single word is wider')
        if (next !== undefined) t.ok(line.length + 1 + next.length > 80, 'the next word has no place there')
      }
    }),
  )
  t.equal(fold('', 'x'), 'x')
})

t.test('fitted', async (t) => {
  const item = fc.array(word, { minLength: 1, maxLength: 4 }).map((lines) => lines.join('\n'))
  const sections = fc.array(fc.array(item, { minLength: 1, maxLength: 60 }), { minLength: 1, maxLength: 8 })
  fc.assert(
    fc.property(sections, fc.integer({ min: 1, max: 60 }), (given, most) => {
      const titled = given.map((items, at) => ({ title: `# ${at}`, items }))
      const rest = (left: number) => `+ ${left}`
      const lines = fitted(titled, { most, reserved: 0, rest }).join('\n').split('\n')
      t.ok(lines.length <= 48, 'eight sections of four lines fit')
      const parts = lines
        .join('\n')
        .split(/^# \d+$/m)
        .slice(1)
      for (const [at, items] of given.entries()) {
        const shown = parts[at]?.trim() ?? ''
        const left = Number(/^\+ (\d+)$/m.exec(shown)?.[1] ?? 0)
        t.equal(shown.replace(/\n\+ \d+$/, ''), items.slice(0, items.length - left).join('\n'))
        t.ok(left < items.length && items.length - left <= most)
      }
    }),
  )
  const few = [{ title: 'a', items: ['1', '2', '3'] }]
  t.same(fitted(few, { rest: String }), ['a', '1', '2', '3'])
  t.same(fitted(few, { most: 2, rest: String }), ['a', '1', '2', '1'])
})

t.test('columns', async (t) => {
  const cell = fc.stringMatching(/^[a-z]{1,70}$/)
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell, cell), { minLength: 1 }), (rows) => {
      const lines = columns(rows).split('\n')
      t.same(
        lines.map((line) => line.split(/ +/)),
        rows,
      )
      const narrow = [0, 1, 2].reduce(
        (sum, at) => sum + Math.max(...rows.map((row) => row[at]?.length ?? 0)),
        4,
      )
      if (narrow <= 80) t.equal(new Set(lines.map((line) => line.lastIndexOf('  '))).size, 1, 'aligned')
    }),
  )
  t.equal(columns([]), '')
})
