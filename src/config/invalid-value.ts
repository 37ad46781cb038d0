/**
 * The error result of value parsers, and helpers for messages. A message follows the value's name, as in
 * `is not a duration …`, and never contains the value.
 */

export class InvalidValue {
  readonly message: string
  /** Whether the value may contain a secret: the message does not show it. */
  readonly confidential: boolean
  /** The end of the message, which is made from the value and shown only if the value is. */
  readonly correction: string

  constructor(message: string, confidential = false, correction = '') {
    this.message = message
    this.confidential = confidential
    this.correction = correction
  }
}

/** A value that depends on the gateway's machine: a variable that is not set here, or a file. */
export class Undetermined extends InvalidValue {}

export type ValueParser<T> = (text: string) => T | InvalidValue

/** The text for a message: a JSON string on one line, cut at 60 characters. */
export function quote(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 59)}…` : text)
}

/** ` (did you mean "token"?)`; '' if no word is similar. */
export function didYouMean(word: string, words: Iterable<string>): string {
  const best = nearest(word, words)
  return best === null ? '' : ` (did you mean ${quote(best)}?)`
}

/**
 * The same as `didYouMean`, but if no word is similar, it lists the first ones: ` (known: "acme", "globex")`.
 */
export function didYouMeanOneOf(word: string, words: Iterable<string>): string {
  const all = [...words]
  const near = didYouMean(word, all)
  if (near !== '') return near
  if (all.length === 0) return ' (there is none)'
  const more = all.length > MOST_WORDS ? ', …' : ''
  return ` (known: ${all.slice(0, MOST_WORDS).map(quote).join(', ')}${more})`
}

/** The maximum number of words that a message lists. */
const MOST_WORDS = 8

/**
 * The most similar of the words, with an edit distance of at most 3; null: there is none. 10,000 words of 64
 * characters take about 20 ms.
 */
export function nearest(word: string, words: Iterable<string>): string | null {
  let [best, least] = ['', Math.min(3, Math.ceil(word.length / 3)) + 1]
  if (word.length > 64) return null
  const lower = word.toLowerCase()
  for (const each of words) {
    if (Math.abs(each.length - word.length) >= least) continue
    const distance = editDistance(lower, each.toLowerCase(), least)
    if (distance < least) [best, least] = [each, distance]
  }
  return best === '' ? null : best
}

/** The edit distance, or `most` if it is larger: only the 2 × `most` - 1 middle diagonals are looked at. */
function editDistance(a: string, b: string, most: number): number {
  let row = Uint8Array.from({ length: b.length + 1 }, (_, at) => Math.min(at, most))
  let next = new Uint8Array(b.length + 1).fill(most)
  for (let i = 1; i <= a.length; i++) {
    const [from, to] = [Math.max(1, i - most + 1), Math.min(b.length, i + most - 1)]
    let least = from === 1 ? Math.min(i, most) : most
    next[from - 1] = least
    for (let j = from; j <= to; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next[j] = Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, most)
      least = Math.min(least, next[j] ?? 0)
    }
    if (least === most) return most
    ;[row, next] = [next.fill(most, to + 1), row]
  }
  return row[b.length] ?? 0
}

/**
 * A parser that accepts the keys of a map.
 *
 * @param what the kind of the keys in messages, as in `is not a tenant`
 */
export function oneOf(
  words: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>,
  what: string,
): ValueParser<string> {
  return (text) =>
    words.has(text) ? text : new InvalidValue(`is not ${what}${didYouMeanOneOf(text, words.keys())}`)
}

/**
 * The same parser for the elements of one list, which refuses a second element with the same key.
 *
 * @param keyOf returns equal keys for equal values
 */
export function distinct<T>(
  parse: ValueParser<T>,
  keyOf: (value: T) => unknown = (value) => value,
): ValueParser<T> {
  const seen = new Set<unknown>()
  return (text) => {
    const value = parse(text)
    if (value instanceof InvalidValue) return value
    const key = keyOf(value)
    if (seen.has(key)) return new InvalidValue('is listed twice: remove one')
    seen.add(key)
    return value
  }
}

/** The same parser for values that may contain a secret: messages do not show them. */
export function confidential<T>(parse: ValueParser<T>): ValueParser<T> {
  return (text) => {
    const result = parse(text)
    if (result instanceof Undetermined) return new Undetermined(result.message, true)
    return result instanceof InvalidValue ? new InvalidValue(result.message, true) : result
  }
}
