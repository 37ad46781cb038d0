/** The Seats that the credential of a logged request names for its space. */

import type { SeatClaims } from '../../model/principal.ts'

export interface NamedSeats {
  /** Null: an older version wrote the line, and did not say. */
  readonly by: SeatClaims['by'] | null
  /** Of a token, in whole seconds since the epoch; -Infinity: it does not say. */
  readonly issuedAt: number
  /** Null: the line has only ids. */
  readonly names: readonly string[] | null
  readonly ids: readonly string[]
  /** The credential names more than these. */
  readonly truncated: boolean
}

export interface SeatFields {
  readonly seats?: unknown
  readonly seat_ids?: unknown
  readonly issued_at?: unknown
  readonly any_space?: unknown
}

interface List {
  readonly texts: readonly string[]
  readonly truncated: boolean
}

const NOTHING: List = Object.freeze({ texts: Object.freeze([]), truncated: false })
const TRUNCATED = /^\+\d+ more$/

/** Null: a field is malformed. */
export function namedSeats(fields: SeatFields): NamedSeats | null {
  const { seats, seat_ids: ids, issued_at: issuedAt } = fields
  const named = seats === undefined ? NOTHING : listOf(seats, nameOf)
  if (named === null) return null
  const names = named.texts
  if (ids !== undefined) {
    const listed = listOf(ids, (id) => id)
    if (listed === null) return null
    // On an `authenticated` route no Seat is looked up, so that its name is not known.
    const known = names.length === listed.texts.length ? names : null
    return { by: 'id', issuedAt: 0, names: known, ids: listed.texts, truncated: listed.truncated }
  }
  const { truncated } = named
  if (issuedAt === undefined) return { by: null, issuedAt: 0, names, ids: [], truncated }
  if (issuedAt !== null && typeof issuedAt !== 'number') return null
  const by = fields.any_space === true ? 'any-space' : 'name'
  return { by, issuedAt: issuedAt ?? -Infinity, names, ids: [], truncated }
}

/** @param textOf null: malformed */
function listOf(value: unknown, textOf: (element: string) => string | null): List | null {
  if (!Array.isArray(value)) return null
  const texts: string[] = []
  for (const [at, element] of value.entries()) {
    if (typeof element !== 'string') return null
    if (at === value.length - 1 && TRUNCATED.test(element)) return { texts, truncated: true }
    const text = textOf(element)
    if (text === null) return null
    texts.push(text)
  }
  return { texts, truncated: false }
}

/** `Name:verdict`. A name may have a colon, a verdict has none. */
function nameOf(element: string): string | null {
  const end = element.lastIndexOf(':')
  return end < 0 ? null : element.slice(0, end)
}
