/** The space grammar. A space id contains no `:`, so that `hash_perm` entries split at the first one. */

export const SPACE_ID = /^[A-Za-z0-9][A-Za-z0-9._~-]{0,127}$/

export function isSpaceId(text: string): boolean {
  return SPACE_ID.test(text)
}
