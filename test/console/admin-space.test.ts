/** What a change of a Seat would newly grant in the admin space. */

import t from 'tap'

interface Grants {
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
}

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const MODULE: string = '../../seats-admin/console/admin-space.js'
const loaded: { newInAdminSpace(before: Grants | null, after: Grants, adminSpace: string): string[] } =
  await import(MODULE)
const { newInAdminSpace } = loaded

const grants = (spaces: string[], permissions: string[]): Grants => ({ spaces, permissions })

for (const [what, before, after, expected] of [
  ['a new Seat there', null, grants(['admin', 'main'], ['a:b', '*']), ['a:b', '*']],
  ['a new Seat elsewhere', null, grants(['main'], ['*']), []],
  ['a new Seat without a space', null, grants([], ['*']), []],
  ['a Seat that comes there', grants(['main'], ['a:b']), grants(['main', 'admin'], ['a:b']), ['a:b']],
  ['a Seat there that gets more', grants(['admin'], ['a:b']), grants(['admin'], ['a:b', '*']), ['*']],
  ['a Seat there that loses', grants(['admin'], ['a:b', 'c:d']), grants(['admin'], ['a:b']), []],
  ['an administrator', grants(['admin'], ['*']), grants(['admin', 'main'], ['*', 'a:b']), []],
  ['a Seat that leaves', grants(['admin'], ['a:b']), grants(['main'], ['a:b', '*']), []],
  ['a space of a similar name', null, grants(['Admin', 'admin2'], ['*']), []],
] as const)
  t.test(what, (t) => {
    t.same(newInAdminSpace(before, after, 'admin'), expected)
    t.end()
  })
