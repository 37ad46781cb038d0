/** Pieces of a line of JSON text. */

/** Elements of a list in one line: a credential may name thousands of Seats. */
const MAX_LISTED = 20

export function listed<V>(all: readonly V[], written: (each: V) => string): string {
  if (all.length <= MAX_LISTED) return all.map(written).join(',')
  const shown = all.slice(0, MAX_LISTED).map(written)
  return `${shown.join(',')},"+${all.length - MAX_LISTED} more"`
}

/** Text that JSON does not escape: most is, and checking it takes less time than `JSON.stringify`. */
const PLAIN = /^[ !#-[\]-~]*$/

export function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text).replace(CONTROLS, escaped)
}

export function quotedOrNull(text: string | null): string {
  return text === null ? 'null' : quoted(text)
}

/** Controls and line separators that `JSON.stringify` leaves, and that terminals and log readers may obey. */
const CONTROLS = /[\x7f-\x9f\u2028\u2029]/g

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
