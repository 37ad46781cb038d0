/**
 * A hash of text for look-ups in a Map: V8 puts a new string into its string table when a Map is asked for
 * it, which costs more. Anyone can make texts with the same hash, so a match must be confirmed by the text.
 */

/**
 * One step of FNV-1a, from 0.
 *
 * @param code of the next character
 */
export function addToHash(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193)
}

/** @param from the first character that counts */
export function hashOf(text: string, from = 0): number {
  let hash = 0
  for (let i = from; i < text.length; i++) hash = addToHash(hash, text.charCodeAt(i))
  return hash
}
