import t from 'tap'
import fc from 'fast-check'
import { StreamTable } from '../../../../src/http/wire/http2/stream-table.ts'

t.test('streams are found by id, in any order of their ends', async () => {
  const steps = fc.array(fc.record({ opens: fc.boolean(), which: fc.nat(40) }), { maxLength: 200 })
  fc.assert(
    fc.property(steps, (all) => {
      const table = new StreamTable<{ readonly id: number }>()
      const known = new Map<number, { readonly id: number }>()
      let next = 1
      for (const { opens, which } of all) {
        if (opens) {
          const stream = { id: next }
          // Ids of refused streams never enter the table.
          next += 2 + 2 * (which % 3)
          table.add(stream)
          known.set(stream.id, stream)
        }
        const id = 1 + (which % Math.max(1, next))
        if (!opens && table.delete(id) !== known.delete(id)) return false
        if (table.get(id) !== known.get(id) || table.size !== known.size) return false
      }
      const [found, expected] = [[...table], [...known.values()]]
      return found.length === expected.length && found.every((stream, at) => stream === expected[at])
    }),
  )
})

t.test('after `clear` no stream is left', async (t) => {
  const table = new StreamTable<{ readonly id: number }>()
  for (const id of [1, 3, 7]) table.add({ id })
  table.clear()
  t.equal(table.size, 0)
  t.equal(table.get(3), undefined)
  t.same([...table], [])
})
