/**
 * Cuts items out of the text of a list. Every byte that stays is the server's own: a value that is built and
 * written again has other numbers, as 1e400, 1.0 and those with more digits than a double.
 */

import {
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COMMA,
  endOfString,
  OPEN_ARRAY,
  OPEN_OBJECT,
  QUOTE,
} from '../../lib/json.ts'

const PRIVATE = JSON.stringify('private')
/** Characters of a step. */
const STEP = 64 * 1024

/** An item or member, with the white space around it. */
interface Part {
  readonly from: number
  readonly to: number
}

interface Edit extends Part {
  readonly text: string
}

/**
 * The text of a response of JSON-RPC without some items of its result. A `cacheScope` of the result becomes
 * `private`. Each `next` takes the work of {@link STEP} characters, or of one string.
 *
 * @param text strict JSON, one character a byte; its result has the items
 * @param items the member of the result with the items
 * @param kept for each item, whether it stays
 */
export function* cutSteps(text: string, items: string, kept: readonly boolean[]): Generator<void, string> {
  const response = yield* membersAt(text, text.indexOf('{'))
  const result = yield* membersAt(text, response.get('result')?.from ?? -1)
  const edits: Edit[] = []
  const scope = result.get('cacheScope')
  if (scope !== undefined) edits.push({ ...scope, text: PRIVATE })
  const list = result.get(items)
  if (list !== undefined && kept.includes(false)) {
    const parts = (yield* partsAt(text, list.from)).filter((_, at) => kept[at])
    edits.push({ ...list, text: `[${parts.map(({ from, to }) => text.slice(from, to)).join()}]` })
  }
  return edited(text, edits)
}

function edited(text: string, edits: readonly Edit[]): string {
  let result = ''
  let at = 0
  for (const edit of edits.toSorted((one, other) => one.from - other.from)) {
    result += text.slice(at, edit.from) + edit.text
    at = edit.to
  }
  return result + text.slice(at)
}

/** The values of the members of the object that opens at a place, by name. */
function* membersAt(text: string, open: number): Generator<void, Map<string, Part>> {
  const values = new Map<string, Part>()
  for (const { from, to } of yield* partsAt(text, open)) {
    const quote = text.indexOf('"', from)
    // An empty object has one part, without a name.
    if (quote < 0 || quote >= to) continue
    const end = endOfString(text, quote)
    const value = afterSpace(text, text.indexOf(':', end) + 1)
    values.set(JSON.parse(text.slice(quote, end + 1)), { from: value, to: beforeSpace(text, to) })
  }
  return values
}

/** The parts of the array or object that opens at a place. */
function* partsAt(text: string, open: number): Generator<void, Part[]> {
  const parts: Part[] = []
  let depth = 0
  let from = open + 1
  let rest = STEP
  for (let at = open; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      const end = endOfString(text, at)
      rest -= end - at
      at = end
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) depth++
    else if (code === COMMA && depth === 1) {
      parts.push({ from, to: at })
      from = at + 1
    } else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && --depth === 0) {
      parts.push({ from, to: at })
      return parts
    }
    if (--rest > 0) continue
    rest = STEP
    yield
  }
  throw new Error('the text is not JSON')
}

function afterSpace(text: string, from: number): number {
  let at = from
  while (isSpace(text, at)) at++
  return at
}

function beforeSpace(text: string, to: number): number {
  let at = to
  while (isSpace(text, at - 1)) at--
  return at
}

/** The white space of JSON. */
function isSpace(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code === 0x20 || code === 0x09 || code === 0x0a || code === 0x0d
}
