/** The ring is the list of RFC 7541, section 4. */

import fc from 'fast-check'
import t from 'tap'
import { DynamicTable } from '../../../../src/http/wire/http2/dynamic-table.ts'

type Change = { readonly add: number } | { readonly resize: number } | 'clear'

const change: fc.Arbitrary<Change> = fc.oneof(
  { weight: 100, arbitrary: fc.record({ add: fc.nat(120) }) },
  { weight: 2, arbitrary: fc.record({ resize: fc.nat(6000) }) },
  { weight: 1, arbitrary: fc.constant('clear' as const) },
)

/** The plain list, newest first. */
function expected(changes: readonly Change[]): string[] {
  let max = 6000
  let list: string[] = []
  const bytes = () => list.reduce((sum, value) => sum + value.length + 1 + 32, 0)
  for (const [i, each] of changes.entries()) {
    if (each === 'clear') list = []
    else if ('resize' in each) max = each.resize
    else list.unshift(valueOf(i, each.add))
    while (bytes() > max) list.pop()
  }
  return list
}

function valueOf(i: number, length: number): string {
  return `${i} `.padEnd(length, '-')
}

t.test('any changes', async (t) => {
  let most = 0
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200, size: 'max' }), (changes) => {
      const table = new DynamicTable(6000)
      for (const [i, each] of changes.entries())
        if (each === 'clear') table.clear()
        else if ('resize' in each) table.resize(each.resize)
        else table.add('n', valueOf(i, each.add))
      const wanted = expected(changes)
      most = Math.max(most, wanted.length)
      const found = Array.from({ length: table.count }, (_, i) => table.value(i))
      const names = Array.from({ length: table.count }, (_, i) => table.name(i))
      const bytes = wanted.reduce((sum, value) => sum + value.length + 33, 0)
      return (
        JSON.stringify(found) === JSON.stringify(wanted) &&
        names.every((name) => name === 'n') &&
        table.bytes === bytes
      )
    }),
    { numRuns: 1000 },
  )
  t.ok(most > 32, `up to ${most} entries: the ring has grown twice`)
})

t.test('an entry that is larger than the table clears it', async (t) => {
  const table = new DynamicTable(40)
  table.add('name', 'four')
  t.equal(table.count, 1)
  table.add('name', 'fiver')
  t.equal(table.count, 0)
})
