/**
 * The error result of value parsers, and helpers for messages. A message follows the value's name, as in
 * `is not a duration …`, and never contains the value.
 */

export class InvalidValue {
  readonly message: string
  /** The value may contain a secret: it is not shown beside the message. */
  readonly confidential: boolean
  /** The end of the message, made from the value: shown where the value itself is. */
  readonly correction: string

  constructor(message: string, confidential = false, correction = '') {
    this.message = message
    this.confidential = confidential
    this.correction = correction
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

/** As `didYouMean`; where no known word is near, the first of them: ` (known: "acme", "globex")`. */
export function didYouMeanOneOf(word: string, known: Iterable<string>): string {
  const all = [...known]
  const near = didYouMean(word, all)
  if (near !== '') return near
  if (all.length === 0) return ' (there is none)'
  const more = all.length > MOST_KNOWN ? ', …' : ''
  return ` (known: ${all.slice(0, MOST_KNOWN).map(quote).join(', ')}${more})`
}

/** Known words that a message shows. */
const MOST_KNOWN = 8

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

/** A parser of known words. @param what they are, as in `is not a tenant` */
export function oneOf(
  known: Pick<ReadonlyMap<string, unknown>, 'has' | 'keys'>,
  what: string,
): ValueParser<string> {
  return (text) =>
    known.has(text) ? text : new InvalidValue(`is not ${what}${didYouMeanOneOf(text, known.keys())}`)
}

/** The same parser, for the elements of one list: what it has read before is refused. @param keyOf equal for equal values */
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

/** The same parser, for values that may contain a secret. */
export function confidential<T>(parse: ValueParser<T>): ValueParser<T> {
  return (text) => {
    const result = parse(text)
    if (result instanceof Undetermined) return new Undetermined(result.message, true)
    return result instanceof InvalidValue ? new InvalidValue(result.message, true) : result
  }
}
