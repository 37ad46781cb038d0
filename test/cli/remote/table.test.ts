/** Tables use the width of the terminal. */

import t from 'tap'
import { type Column, printList, tableOf } from '../../../src/cli/remote/list-output.ts'
import { startWorld } from '../../support/world.ts'
import { afar } from './from-afar.ts'

interface Item {
  readonly name: string
  readonly list: readonly string[]
}

const COLUMNS: readonly Column<Item>[] = [
  { name: 'name', width: 8, of: ({ name }) => name },
  { name: 'list', width: 10, of: ({ list }) => list },
]
const items: Item[] = [
  { name: 'abcdefghijkl', list: ['one', 'two', 'three', 'four'] },
  { name: 'ü\u001b', list: [] },
]

t.test('short cells take no more than they need, long ones what is left', async (t) => {
  const table = (room: number) => {
    const { heading, line } = tableOf(COLUMNS, items, room)
    return [heading, ...items.map(line)].join('\n')
  }
  t.equal(table(20), 'name      list\nabcdefg…  one and 3…\nü\\u001b')
  t.equal(table(27), 'name          list\nabcdefghijkl  one and 3 mo…\nü\\u001b')
  t.equal(table(200), 'name          list\nabcdefghijkl  one, two, three, four\nü\\u001b')
  t.equal(table(5), table(20), 'never less than their least widths')
})

t.test('page by page', async (t) => {
  const printed = async (json: boolean, ...pages: Item[][]) => {
    let out = ''
    const terminal = { columns: 200, print: async (text: string) => void (out += `${text}\n`) }
    async function* all() {
      yield* pages
    }
    await printList(all(), { columns: COLUMNS, json, none: 'none' }, terminal as never)
    return out
  }
  const [first, second] = items as [Item, Item]
  t.equal(await printed(false), 'none\n')
  t.equal(
    await printed(false, [], [first], [], [second]),
    `name          list\nabcdefghijkl  one, two, three, four\nü\\u001b\n`,
  )
  for (const pages of [[], [[first], [second]], [[], [first, second]]])
    t.same(JSON.parse(await printed(true, ...pages)), { data: pages.flat() })
})

t.test('seats list and audit list at two widths', async (t) => {
  const world = await startWorld(t)
  const { run } = afar(t, world, world.keys['acme'] ?? '')
  const spaces = Array.from({ length: 12 }, (_, at) => `space-${at}`)
  await world.seat('A Seat with a name that is longer than its column', spaces, [
    'trainings:list',
    'trainings:read',
    'trainings:update',
  ])
  const lines = async (columns: number, args: string[]) => (await run(args, {}, { columns })).out.split('\n')
  const narrow = await lines(80, ['seats', 'list'])
  t.ok(narrow.every(({ length }) => length <= 80))
  t.match(narrow.join('\n'), /A Seat with [\w ]+… {2}space-0[\w, -]* and \d+ more/)
  const wide = await lines(300, ['seats', 'list'])
  t.match(
    wide.join('\n'),
    `A Seat with a name that is longer than its column  ${spaces.join(', ')}  trainings:list, trainings:read, trainings:update`,
  )
  t.match(
    (await lines(300, ['audit', 'list'])).join('\n'),
    /A Seat with a name that is longer than its column$/m,
  )
  t.ok((await lines(80, ['audit', 'list'])).every(({ length }) => length <= 80))
})
