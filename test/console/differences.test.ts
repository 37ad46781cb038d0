/** What an entry of the audit has changed, as the pages show it. */

import t from 'tap'

type State = Readonly<Record<string, unknown>>
interface Difference {
  readonly field: string
  readonly added: readonly string[]
  readonly removed: readonly string[]
}

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const MODULE: string = '../../seats-admin/console/differences.js'
const { differencesOf }: { differencesOf(before: State | null, after: State | null): Difference[] } =
  await import(MODULE)

t.test('lists by their elements, other values as a whole', (t) => {
  const before = { id: '1', name: 'Editor', spaces: ['main', 'north'], until: null }
  const after = { id: '1', name: 'Editors', spaces: ['main', 'south'], until: '2026-12-01T00:00:00Z' }
  t.same(differencesOf(before, after), [
    { field: 'name', added: ['Editors'], removed: ['Editor'] },
    { field: 'spaces', added: ['south'], removed: ['north'] },
    { field: 'until', added: ['2026-12-01T00:00:00Z'], removed: [] },
  ])
  t.end()
})

t.test('an object by its members', (t) => {
  const key = { last_used_at: null, name: 'bootstrap', seats: ['admin', 'Viewer'], more: { a: [1] } }
  t.same(differencesOf(null, { api_key: key }), [
    {
      field: 'api_key',
      added: ['name: bootstrap', 'seats: admin, Viewer', 'more: {"a":[1]}'],
      removed: [],
    },
  ])
  t.end()
})
