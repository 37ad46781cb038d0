/** Large lists are filtered one after the other: the values of many at once would exceed the heap. */

import t from 'tap'
import { FieldTable } from '../../../src/http/wire/field-table.ts'
import { ListBody } from '../../../src/pipeline/mcp/list-body.ts'

const tools = Array.from({ length: 3000 }, (_, n) => ({ name: `tool_${n}` }))
const text = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools } }))

function listOf(owner: string, isGone: () => boolean, used: (name: string) => void): ListBody {
  const list = new ListBody({
    id: 1,
    items: 'tools',
    member: 'name',
    usable: async (names) => {
      for (const name of names) {
        used(name)
        await new Promise(setImmediate)
      }
      return names.map(() => true)
    },
    owner,
    isGone,
  })
  const fields = FieldTable.of(['Content-Type', 'application/json'])
  if (fields === null) throw new Error('malformed')
  list.begin({ status: 200, phrase: 'OK', fields })
  list.add(text)
  return list
}

t.test('large lists', async (t) => {
  const order: string[] = []
  const filtered = (name: string, isGone = false) => {
    const used = () => void (order.at(-1) === name || order.push(name))
    return listOf(name.slice(0, 1), () => isGone, used).filtered()
  }
  const all = [filtered('a0'), filtered('a1'), filtered('a2'), filtered('b1')]
  void filtered('b2', true)
  const bodies = await Promise.all(all)
  t.ok(bodies.every((body) => body.equals(text)))
  await filtered('b3')
  t.same(order, ['a0', 'a1', 'b1', 'a2', 'b3'])
})
