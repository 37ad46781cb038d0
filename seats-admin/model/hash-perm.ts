/**
 * The claim `hash_perm`: entries `{space}:{seat}`, each a Seat by its name in one space. A space id has no
 * `:`, so an entry splits at its first one. Pure.
 */

import { isSpaceId } from './space.ts'

export function hashPermEntry(space: string, seat: string): string {
  return `${space}:${seat}`
}

/**
 * Space → Seat names, each entry once, in the order of the claim. An entry that names no space or no Seat is
 * left out, and an absent claim names none. Lone surrogates are no text (RFC 7493, section 2.1). Null where
 * the claim is no array of strings.
 */
export function readHashPerm(claim: unknown = []): ReadonlyMap<string, readonly string[]> | null {
  if (!Array.isArray(claim)) return null
  const entries = new Map<string, string[]>()
  for (const entry of new Set<unknown>(claim)) {
    if (typeof entry !== 'string') return null
    const at = entry.indexOf(':')
    const space = entry.slice(0, at)
    const seat = entry.slice(at + 1)
    if (at < 0 || seat === '' || !seat.isWellFormed() || !isSpaceId(space)) continue
    const seats = entries.get(space)
    if (seats === undefined) entries.set(space, [seat])
    else seats.push(seat)
  }
  return entries
}
