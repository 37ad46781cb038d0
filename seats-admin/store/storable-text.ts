/** Text that both stores hold unchanged: PostgreSQL has neither U+0000 nor lone surrogates, and SQLite changes the latter. */

export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** For lookups: no row has the name or id '', so an unstorable text finds nothing either. */
export function storableOrEmpty(text: string): string {
  return isStorable(text) ? text : ''
}

/** For display texts: replaces unstorable characters by U+FFFD. */
export function replaceUnstorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}
