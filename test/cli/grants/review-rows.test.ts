/** The rows of a review: what is listed, and what counts as marked. */

import t from 'tap'
import { csvLine, csvRecords } from '../../../src/cli/grants/csv-text.ts'
import {
  COLUMNS,
  type Marked,
  markedIn,
  ReviewFault,
  reviewLines,
  type ReviewRow,
} from '../../../src/cli/grants/review-rows.ts'

const [ONE, TWO] = ['01KAJ0Z1V5Q8T2C0W7M3E9R4XD', '01KAJ0Z1V5Q8T2C0W7M3E9R4XE']
const NOW = Date.UTC(2026, 0, 1)

/** A file with these rows. */
function fileOf(...rows: Partial<ReviewRow>[]): string {
  const lines = rows.map((row) => csvLine(COLUMNS.map((column) => row[column] ?? '')))
  return [csvLine(COLUMNS), ...lines].join('')
}

function faultsIn(text: string): string {
  try {
    return `marked: ${JSON.stringify(markedIn(text))}`
  } catch (cause) {
    if (cause instanceof ReviewFault) return cause.message
    throw cause
  }
}

const grant = { by: 'grant', id: ONE, user: 'eve', seat: 'Viewer', remove: 'x' } as const
const key = { by: 'key', id: TWO, user: '', seat: 'Viewer', remove: 'x' } as const

t.test('marks', async (t) => {
  const marked: Marked = { by: 'grant', id: ONE, user: 'eve', seats: ['Viewer'], line: 2 }
  for (const remove of ['x', 'X', ' x ', 'yes', 'TRUE', '1', 'remove'])
    t.same(markedIn(fileOf({ ...grant, remove })), [marked], remove)
  for (const remove of ['', ' ', 'no', 'FALSE', '0'])
    t.same(markedIn(fileOf({ ...grant, remove })), [], remove)
  t.match(faultsIn(fileOf({ ...grant, remove: 'maybe' })), 'line 2: remove is neither empty nor x: "maybe"')
  t.same(markedIn(fileOf()), [])
})

t.test('the file of another program', async (t) => {
  const marked = [{ by: 'grant', id: ONE, user: 'eve', seats: ['Viewer'] }]
  t.match(markedIn(`\ufeff${fileOf(grant)}`), marked)
  t.match(markedIn(fileOf(grant).replaceAll(',', ';').replaceAll('\r\n', '\n')), marked)
  const columns = ['note', ...COLUMNS.toReversed()]
  const cells: Record<string, string> = { ...grant, note: '=1+1' }
  const other = [columns, columns.map((column) => cells[column] ?? '')].map(csvLine).join('')
  t.match(markedIn(other), marked, 'columns in another order, and one more')
})

t.test('a row twice', async (t) => {
  t.match(markedIn(fileOf(grant, grant)), [{ id: ONE, seats: ['Viewer'], line: 2 }])
  t.equal(markedIn(fileOf(grant, grant)).length, 1)
  t.match(
    faultsIn(fileOf(grant, { ...grant, remove: '' })),
    'line 3: another row of the same grant is marked, and this one is not',
  )
  t.match(
    faultsIn(fileOf(grant, { ...grant, user: 'bob' })),
    `line 2: grant ${ONE} has rows of several users`,
  )
})

t.test('an API key is marked as a whole', async (t) => {
  t.match(markedIn(fileOf(key, { ...key, seat: 'Editor' })), [
    { by: 'key', id: TWO, seats: ['Viewer', 'Editor'] },
  ])
  t.match(
    faultsIn(fileOf(key, { ...key, seat: 'Editor', remove: '' })),
    'line 3: another row of the same API key, which can only be revoked as a whole, is marked',
  )
  t.match(markedIn(fileOf({ ...key, seat: '' })), [{ by: 'key', seats: [] }], 'without Seats')
})

t.test('faults, all of them at once', async (t) => {
  const group = { by: 'group', user: 'eve', seat: 'Editor', remove: 'x' }
  const faults = faultsIn(
    fileOf(grant, group, { ...grant, by: 'role' }, { ...grant, id: '../seats' }, { ...key, id: '' }),
  )
  t.equal(
    faults,
    [
      'line 3: "eve" has Seat "Editor" by a group: take it away at the identity provider',
      ...[4, 5, 6].map((line) => `line ${line}: by and id name no grant and no API key`),
    ].join('\n'),
  )
  t.match(faultsIn(fileOf(...Array.from({ length: 30 }, () => group))), /\nand 10 more$/)
})

t.test('no file of a review', async (t) => {
  t.equal(faultsIn(''), 'it is empty')
  t.equal(faultsIn('user,email\r\n'), 'line 1: there is no column seat')
  t.equal(faultsIn(fileOf(grant).replace('by', 'id')), 'line 1: there is no column by')
  t.equal(faultsIn(fileOf(grant).replace('remove', 'remove,remove')), 'line 1: there are two columns remove')
  t.equal(faultsIn(`${fileOf()}x,y\r\n`), 'line 2: it has 2 cells, and the heading has 10')
  t.match(faultsIn(fileOf(grant).replace('eve', 'e"ve')), /^line 2: a quotation mark/)
})

t.test('who has what', async (t) => {
  async function* from<V>(...all: V[]) {
    yield* all
  }
  const [from_, until] = ['2025-12-31T00:00:00.000Z', '2026-01-02T00:00:00.000Z']
  const given = { seat_id: ONE, from: from_, until, created_by: 'a', created_at: from_ }
  const source = {
    seats: () => from({ name: '=Viewer', spaces: ['main', 'dev'] }, { name: 'Editor', spaces: [] }),
    users: () =>
      from(
        { sub: 'ann', email: 'ann@acme.example', last_sign_in: from_, seats: ['=Viewer', 'Gone'] },
        { sub: 'bob', email: null, last_sign_in: null, seats: [] },
      ),
    grants: () =>
      from(
        { ...given, id: ONE, user: 'ann', seat: 'Editor' },
        { ...given, id: TWO, user: '-issuer|x', seat: '=Viewer' },
      ),
    keys: () =>
      from(
        { id: ONE, name: 'ci', seats: ['=Viewer', 'Editor'], owner: 'ann', last_used_at: from_ },
        { id: TWO, name: 'bare', seats: [], expires_at: until },
        { id: '1', name: 'expired', seats: ['Editor'], expires_at: from_ },
        { id: '2', name: 'revoked', seats: ['Editor'], revoked_at: from_ },
      ),
  }
  const text = (await Array.fromAsync(reviewLines(source, NOW))).join('')
  t.same(
    csvRecords(text).map(({ cells }) => cells.join('|')),
    [
      'user|email|seat|spaces|by|id|from|until|last_used|remove',
      `ann|ann@acme.example|=Viewer|main dev|group||||${from_}|`,
      `ann|ann@acme.example|Gone||group||||${from_}|`,
      `ann|ann@acme.example|Editor||grant|${ONE}|${from_}|${until}|${from_}|`,
      `-issuer|x||=Viewer|main dev|grant|${TWO}|${from_}|${until}||`,
      `ann|ann@acme.example|=Viewer|main dev|key|${ONE}|||${from_}|`,
      `ann|ann@acme.example|Editor||key|${ONE}|||${from_}|`,
      `||||key|${TWO}||${until}||`,
    ],
  )
  t.match(text, /^'-issuer\|x,,'=Viewer,/m)
  t.same(markedIn(text), [], 'nothing is marked yet')
})
