/** The lines that differ lead from one text to the other, and equal lines are not shown. */

import fc from 'fast-check'
import t from 'tap'

interface Line {
  readonly kind: 'added' | 'removed'
  readonly number: number
  readonly text: string
}

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const MODULE: string = '../../seats-admin/console/line-differences.js'
const { lineDifferences }: { lineDifferences(before: string, after: string): Line[] } = await import(MODULE)

/** The text after the changes. */
function applied(before: string, differences: readonly Line[]): string[] {
  const removed = new Set(differences.flatMap(({ kind, number }) => (kind === 'removed' ? [number] : [])))
  const rest = before === '' ? [] : before.split('\n').filter((_, at) => !removed.has(at + 1))
  for (const { kind, number, text } of differences) if (kind === 'added') rest.splice(number - 1, 0, text)
  return rest
}

t.test('examples', async (t) => {
  t.same(lineDifferences('a\nb\nc\n', 'a\nB\nc\n'), [
    { kind: 'removed', number: 2, text: 'b' },
    { kind: 'added', number: 2, text: 'B' },
  ])
  t.same(lineDifferences('', 'a\n'), [{ kind: 'added', number: 1, text: 'a' }])
  t.same(lineDifferences('a\nb\n', 'a\n'), [{ kind: 'removed', number: 2, text: 'b' }])
  t.same(lineDifferences('a\n', 'a\n'), [])
})

t.test('random texts', async (t) => {
  const lines = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 12 })
  fc.assert(
    fc.property(lines, lines, (one, other) => {
      const differences = lineDifferences(one.join('\n'), other.join('\n'))
      t.same(applied(one.join('\n'), differences), other)
      const removed = differences.filter(({ kind }) => kind === 'removed').length
      t.ok(removed <= one.length)
    }),
  )
})

t.test('large texts', async (t) => {
  const text = (name: string) => Array.from({ length: 3000 }, (_, at) => `${name} ${at}`).join('\n')
  const before = `first\n${text('a')}\nlast`
  const after = `first\n${text('b')}\nlast`
  const differences = lineDifferences(before, after)
  t.equal(differences.length, 6000)
  t.same(applied(before, differences), after.split('\n'))
})
