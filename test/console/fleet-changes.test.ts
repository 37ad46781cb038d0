/** The changes of the feed as people made them, with what the audit says of each. */

import t from 'tap'

interface Change {
  readonly seq: number
  readonly at: string
  readonly kind: string
  readonly effective_ms: number | null
}
interface Told {
  readonly at: string
  readonly target: { readonly kind: string; readonly name: string }
}
interface Written {
  readonly seq: number
  readonly kinds: readonly string[]
  readonly entry: Told | null
}

// The modules of the console are checked with the types of browsers, by a configuration of their own.
const MODULE: string = '../../seats-admin/console/fleet-changes.js'
const loaded: { writtenOf(changes: readonly Change[], entries: readonly Told[]): Written[] } = await import(
  MODULE
)

const time = (ms: number) => new Date(Date.UTC(2026, 10, 28) + ms).toISOString()
/** Of changes that are given oldest first. */
const written = (
  changes: readonly (readonly [ms: number, kind: string, isOwn?: boolean])[],
  entries: Told[] = [],
) =>
  loaded
    .writtenOf(
      changes
        .map(([ms, kind, isOwn = true], at) => ({
          seq: at + 1,
          at: time(ms),
          kind,
          effective_ms: isOwn ? 1 : null,
        }))
        .reverse(),
      entries,
    )
    .map(({ seq, kinds, entry }) => [seq, kinds.join(), entry?.target.name ?? null])
const told = (ms: number, kind: string, name: string): Told => ({ at: time(ms), target: { kind, name } })

t.test('the members of a group, and a deactivation by SCIM, are one change', (t) => {
  t.same(
    written([
      [0, 'membership'],
      [0, 'membership'],
      [0, 'membership'],
      [5, 'membership'],
      [9, 'revocation'],
      [9, 'session'],
      [9, 'block'],
      [9, 'membership'],
      [9, 'seat'],
    ]),
    [
      [9, 'seat', null],
      [8, 'revocation,session,block,membership', null],
      [4, 'membership', null],
      [3, 'membership', null],
    ],
  )
  t.end()
})

t.test('the records of one write are one change', (t) => {
  t.same(
    written([
      [0, 'seat'],
      [0, 'seat-name'],
    ]),
    [[2, 'seat,seat-name', null]],
  )
  const renamed = [
    [0, 'seat'],
    [0, 'seat-name'],
    [0, 'seat-name'],
  ] as const
  t.same(written(renamed), [[3, 'seat,seat-name', null]], 'a new name is two of them')
  t.same(
    written([
      [0, 'seat'],
      [0, 'seat-name'],
      [0, 'seat'],
      [0, 'seat-name'],
    ]).map(([seq]) => seq),
    [4, 2],
    'two Seats that were learned of at once',
  )
  t.same(
    written([
      [0, 'seat'],
      [1, 'seat-name'],
    ]).length,
    2,
    'of two times',
  )
  t.same(
    written([
      [0, 'api-key'],
      [0, 'seat-name'],
    ]).length,
    2,
    'of two kinds',
  )
  t.same(written([]), [])
  t.end()
})

t.test('what a revocation has ended is one change with it', (t) => {
  const changes = [
    [0, 'session'],
    [10, 'revocation'],
    [10, 'session'],
    [10, 'session'],
    [10, 'api-key'],
    [10, 'block'],
    [10, 'seat'],
    [11, 'block'],
  ] as const
  const entries = [told(5, 'session', 'alice'), told(5, 'revocation', 'user:alice')]
  t.same(written(changes, entries), [
    [8, 'block', null],
    [7, 'seat', null],
    [6, 'revocation,session,api-key,block', 'user:alice'],
    [1, 'session', null],
  ])
  t.end()
})

t.test('each has the name that the audit has of it', (t) => {
  const changes = [
    [10, 'seat'],
    [10, 'seat-name'],
    [30, 'api-key'],
    [50, 'seat'],
    [70, 'block'],
  ] as const
  const entries = [
    told(5, 'seat', 'A'),
    told(25, 'api_key', 'ci'),
    told(42, 'seat', 'B'),
    told(66, 'block', 'bob'),
  ]
  t.same(written(changes, entries), [
    [5, 'block', 'bob'],
    [4, 'seat', 'B'],
    [3, 'api-key', 'ci'],
    [2, 'seat,seat-name', 'A'],
  ])
  t.end()
})

t.test('no name is better than a wrong one', (t) => {
  const names = (...of: Parameters<typeof written>) => written(...of).map(([, , name]) => name)
  t.same(names([[10, 'seat']], [told(5, 'seat', 'A'), told(6, 'seat', 'B')]), [null], 'two may be meant')
  t.same(names([[10, 'seat']], [told(12, 'seat', 'A')]), [null], 'of a later change')
  t.same(names([[10_000, 'seat']], [told(5, 'seat', 'A')]), [null], 'of a much earlier one')
  t.same(names([[10, 'seat', false]], [told(5, 'seat', 'A')]), [null], 'of an instance with another clock')
  t.same(names([[10, 'session']], [told(5, 'seat', 'A')]), [null], 'of another kind')
  t.same(
    names(
      [
        [10, 'seat'],
        [20, 'seat'],
      ],
      [told(5, 'seat', 'A')],
    ),
    [null, 'A'],
    'without an entry',
  )
  t.end()
})

t.test('a push of route tables has its entry with the change that activates them', (t) => {
  t.same(
    written(
      [
        [0, 'tables-candidate'],
        [40, 'tables'],
      ],
      [told(39, 'tables', 'version 2')],
    ),
    [
      [2, 'tables', 'version 2'],
      [1, 'tables-candidate', null],
    ],
  )
  t.end()
})
