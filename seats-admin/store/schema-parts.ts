/** Compares what a store has with what its migrations made. */

import { UnusableStore } from './unavailable.ts'

/** Parts that a message names. */
const NAMED = 3
const TABLE = 'table '

/**
 * A restore that ended early leaves a store without some of its tables or columns. Further parts, such as the
 * tables of a replicator, are no fault.
 *
 * @param version of the store
 * @param made the kind and name of each part that the migrations up to that version make, such as `column
 *   seats.name`
 * @param parts those that the store has
 * @throws when one is missing
 */
export function requireParts(
  version: number,
  made: Iterable<string>,
  parts: Pick<ReadonlySet<string>, 'has'>,
): void {
  const missing = [...made].filter((part) => !parts.has(part))
  if (missing.length === 0) return
  // The columns of a missing table say nothing more.
  const tables = missing.filter((part) => part.startsWith(TABLE))
  throw lacking(version, tables.length === 0 ? missing : tables)
}

/** @returns the version of a store unless it is newer than this program */
export function supported(version: number, newest: number): number {
  if (version <= newest) return version
  throw new UnusableStore(
    'NEWER_SCHEMA',
    `the store has version ${version}, from a newer Seatgate; this one supports up to ${newest}`,
  )
}

function lacking(version: number, parts: readonly string[]): UnusableStore {
  const more = parts.length - NAMED
  const named = [...parts.slice(0, NAMED), ...(more > 0 ? [`${more} more`] : [])]
  const listed = named.map((part, at) => (at === NAMED ? part : `the ${part}`)).join(', ')
  return new UnusableStore('DAMAGED', `it lacks ${listed}, which version ${version} of the store has`)
}

/** @param part text of each row */
export function partsIn(rows: readonly Readonly<Record<string, unknown>>[]): ReadonlySet<string> {
  return new Set(rows.map(({ part }) => String(part)))
}
