/**
 * How readers of values say no, and words for their messages. A complaint follows the value's name, as in
 * `is not a duration …`, and never holds the value itself.
 */

export class InvalidValue {
  readonly message: string
  /** The value may hold a secret: it is not shown beside the message either. */
  readonly confidential: boolean

  constructor(message: string, confidential = false) {
    this.message = message
    this.confidential = confidential
  }
}

/** Reads the text of a setting, or says what is wrong with it. */
export type Read<T> = (text: string) => T | InvalidValue

/** For messages: in double quotes, on one line, not longer than a line should be. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
}

/** ` (did you mean "token"?)`, when one of `known` is so near to `word` that it was surely meant; '' otherwise. */
export function didYouMean(word: string, known: Iterable<string>): string {
  let [best, least] = ['', Math.min(3, Math.ceil(word.length / 3)) + 1]
  if (word.length > 64) return ''
  for (const each of known) {
    const distance = editDistance(word.toLowerCase(), each.toLowerCase())
    if (distance < least) [best, least] = [each, distance]
  }
  return best === '' ? '' : ` (did you mean ${quote(best)}?)`
}

/** Levenshtein: how many characters must be added, removed or replaced. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

/** The same reader, for values that may hold a secret. */
export function confidential<T>(read: Read<T>): Read<T> {
  return (text) => {
    const result = read(text)
    return result instanceof InvalidValue ? new InvalidValue(result.message, true) : result
  }
}
