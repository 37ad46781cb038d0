/**
 * The error result of value parsers, and helpers for messages. A message follows the value's name, as in
 * `is not a duration …`, and never contains the value.
 */

export class InvalidValue {
  readonly message: string
  /** The value may contain a secret: it is not shown beside the message. */
  readonly confidential: boolean

  constructor(message: string, confidential = false) {
    this.message = message
    this.confidential = confidential
  }
}

/** Depends on the machine that the gateway runs on: a variable that is not set here, or a file. */
export class Undetermined extends InvalidValue {}

export type ValueParser<T> = (text: string) => T | InvalidValue

/** For messages: a JSON string on one line, cut at 60 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
}

/** ` (did you mean "token"?)`; '' where no known word is near. */
export function didYouMean(word: string, known: Iterable<string>): string {
  const best = nearest(word, known)
  return best === null ? '' : ` (did you mean ${quote(best)}?)`
}

/** The known word that an edit distance of at most 3 separates from `word`; null: none does. */
export function nearest(word: string, known: Iterable<string>): string | null {
  let [best, least] = ['', Math.min(3, Math.ceil(word.length / 3)) + 1]
  if (word.length > 64) return null
  for (const each of known) {
    if (Math.abs(each.length - word.length) >= least) continue
    const distance = editDistance(word.toLowerCase(), each.toLowerCase())
    if (distance < least) [best, least] = [each, distance]
  }
  return best === '' ? null : best
}

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

/** The same parser, for values that may contain a secret. */
export function confidential<T>(parse: ValueParser<T>): ValueParser<T> {
  return (text) => {
    const result = parse(text)
    if (result instanceof Undetermined) return new Undetermined(result.message, true)
    return result instanceof InvalidValue ? new InvalidValue(result.message, true) : result
  }
}
