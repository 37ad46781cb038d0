/** The rows of a review: its file, and what is marked in it. */

import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { type CsvRecord, CsvFault, csvLine, csvRecords } from './csv-text.ts'
import type { ReviewSource } from './review-source.ts'

export const COLUMNS = [
  'user',
  'email',
  'seat',
  'spaces',
  'by',
  'id',
  'from',
  'until',
  'last_used',
  'remove',
] as const

type Column = (typeof COLUMNS)[number]
/** A row as the file has it. */
export type ReviewRow = Readonly<Record<Column, string>>

/**
 * The lines of the file: users by `sub`, each with the Seats of the sign-in and then those of grants, then
 * users who have grants alone and are in no list, then API keys with a row for each Seat. Keys that are
 * revoked or have expired are left out.
 */
export async function* reviewLines(source: ReviewSource, now: number): AsyncGenerator<string> {
  const spaces = new Map<string, string>()
  for await (const seat of source.seats()) spaces.set(seat.name, seat.spaces.join(' '))
  const grants = await grantsByUser(source)
  const emails = new Map<string, string>()
  const line = (row: Partial<ReviewRow> & Pick<ReviewRow, 'seat' | 'by'>) =>
    csvLine(COLUMNS.map((column) => row[column] ?? (column === 'spaces' ? (spaces.get(row.seat) ?? '') : '')))
  yield csvLine(COLUMNS)
  for await (const { sub, email, last_sign_in: used, seats } of source.users()) {
    const user = { user: sub, email: email ?? '', last_used: used ?? '' }
    emails.set(sub, user.email)
    for (const seat of seats) yield line({ ...user, seat, by: 'group' })
    for (const { id, seat, from, until } of grants.get(sub) ?? [])
      yield line({ ...user, seat, by: 'grant', id, from, until })
    grants.delete(sub)
  }
  for (const own of grants.values())
    for (const { id, user, seat, from, until } of own)
      yield line({ user, seat, by: 'grant', id, from, until })
  for await (const key of source.keys()) {
    const { id, owner = '', expires_at: until = '', last_used_at: used = '' } = key
    if (key.revoked_at !== undefined || (until !== '' && Date.parse(until) <= now)) continue
    const holder = { user: owner, email: emails.get(owner) ?? '', last_used: used }
    for (const seat of key.seats.length === 0 ? [''] : key.seats)
      yield line({ ...holder, seat, by: 'key', id, until })
  }
}

async function grantsByUser(source: ReviewSource) {
  const grants = new Map<string, { id: string; user: string; seat: string; from: string; until: string }[]>()
  for await (const grant of source.grants()) {
    const own = grants.get(grant.user)
    if (own === undefined) grants.set(grant.user, [grant])
    else own.push(grant)
  }
  return grants
}

/** What is marked: a grant or an API key, with each of its rows. */
export interface Marked {
  readonly by: 'grant' | 'key'
  readonly id: string
  readonly user: string
  /** The Seats of its rows. */
  readonly seats: readonly string[]
  /** The line of its first row. */
  readonly line: number
}

/** The file cannot be applied: its faults, each with its line. */
export class ReviewFault extends Error {}

/**
 * What is marked in a file. Other columns may stand between those of the review.
 *
 * @throws ReviewFault with all faults; nothing of the file may be applied then
 */
export function markedIn(text: string): Marked[] {
  const rows = rowsIn(text)
  const faults: string[] = []
  const marked: (ReviewRow & { readonly line: number })[] = []
  const kept = new Map<string, number>()
  for (const { row, line } of rows) {
    const mark = MARKS.get(row.remove.trim().toLowerCase())
    if (mark === undefined)
      faults.push(`line ${line}: remove is neither empty nor x: ${JSON.stringify(row.remove)}`)
    else if (!mark) kept.set(`${row.by} ${row.id}`, line)
    else if (row.by === 'group')
      faults.push(
        `line ${line}: ${JSON.stringify(row.user)} has Seat ${JSON.stringify(row.seat)} by a group: take it away at the identity provider`,
      )
    else if ((row.by === 'grant' || row.by === 'key') && isUlid(row.id)) marked.push({ ...row, line })
    else faults.push(`line ${line}: by and id name no grant and no API key`)
  }
  const groups = [...Map.groupBy(marked, ({ by, id }) => `${by} ${id}`)].map(([key, own]) => {
    const other = kept.get(key)
    if (other !== undefined)
      faults.push(`line ${other}: another row of the same ${nameOf(key)} is marked, and this one is not`)
    return own
  })
  if (faults.length > 0) throw new ReviewFault(shortened(faults))
  return groups.flatMap((own) => {
    const [first] = own
    if (first === undefined) return []
    const users = new Set(own.map(({ user }) => user))
    if (users.size > 1)
      throw new ReviewFault(`line ${first.line}: ${first.by} ${first.id} has rows of several users`)
    const seats = [...new Set(own.map(({ seat }) => seat).filter((seat) => seat !== ''))]
    return [
      { by: first.by === 'key' ? 'key' : 'grant', id: first.id, user: first.user, seats, line: first.line },
    ]
  })
}

function nameOf(key: string): string {
  return key.startsWith('key ') ? 'API key, which can only be revoked as a whole,' : 'grant'
}

/** The values of `remove`. */
const MARKS: ReadonlyMap<string, boolean> = new Map([
  ...['x', 'yes', 'true', '1', 'remove'].map((text) => [text, true] as const),
  ...['', 'no', 'false', '0'].map((text) => [text, false] as const),
])

/** @throws ReviewFault */
function rowsIn(text: string): { readonly row: ReviewRow; readonly line: number }[] {
  const [heading, ...records] = recordsIn(text)
  if (heading === undefined) throw new ReviewFault('it is empty')
  const names = heading.cells.map((cell) => cell.trim().toLowerCase())
  const places = COLUMNS.map((column) => [column, names.indexOf(column)] as const)
  for (const [column, at] of places) {
    if (at < 0) throw new ReviewFault(`line ${heading.line}: there is no column ${column}`)
    if (names.lastIndexOf(column) !== at)
      throw new ReviewFault(`line ${heading.line}: there are two columns ${column}`)
  }
  return records.map(({ cells, line }) => {
    if (cells.length !== names.length)
      throw new ReviewFault(`line ${line}: it has ${cells.length} cells, and the heading has ${names.length}`)
    const row = Object.fromEntries(places.map(([column, at]) => [column, cells[at] ?? '']))
    return { row: row as ReviewRow, line }
  })
}

function recordsIn(text: string): CsvRecord[] {
  try {
    return csvRecords(text)
  } catch (cause) {
    throw cause instanceof CsvFault ? new ReviewFault(cause.message) : cause
  }
}

/** The most faults that a message has. */
const MOST_FAULTS = 20

export function shortened(faults: readonly string[]): string {
  const more = faults.length - MOST_FAULTS
  return [...faults.slice(0, MOST_FAULTS), ...(more > 0 ? [`and ${more} more`] : [])].join('\n')
}
