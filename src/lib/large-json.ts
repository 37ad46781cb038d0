/**
 * Strict JSON (`json.ts`) of a large body, in steps of bounded work. A scan of the bytes counts first. Then
 * each array and object of more than {@link PIECE} bytes is built from pieces of about that size, which
 * `JSON.parse` reads.
 */

import type { JsonLimits } from '../../seats-admin/model/json-limits.ts'
import {
  BACKSLASH,
  CLOSE_ARRAY,
  CLOSE_OBJECT,
  COLON,
  COMMA,
  DUPLICATE,
  JSON_LIMITS,
  isJsonObject,
  MAX_DEPTH,
  NOT_JSON,
  OPEN_ARRAY,
  OPEN_OBJECT,
  type Parsed,
  parseJson,
  QUOTE,
  overLimit,
  TOO_DEEP,
} from './json.ts'

/** Bytes of a text that is parsed in a row. */
export const PIECE = 16 * 1024
/** Bytes that are scanned in a row. */
const SCANNED = 64 * 1024
/** Bytes of one item that is no large array or object: a string, with white space. */
export const MAX_PIECE = 1024 * 1024

const NOT_UTF8 = { fault: 'not valid UTF-8' } as const
const LONG = {
  fault: `has more than ${MAX_PIECE} bytes in a string or in white space`,
  isLimit: true,
} as const

/** Whole items of an array or object, between commas or brackets: several small ones, or a large one. */
interface Run {
  readonly from: number
  readonly to: number
  readonly items: number
  readonly large: Container | null
}

/** An array or object of more than {@link PIECE} bytes. */
interface Container {
  readonly open: number
  readonly close: number
  readonly isArray: boolean
  readonly runs: readonly Run[]
}

/**
 * Reads a JSON text. Each `next` takes the work of at most {@link MAX_PIECE} bytes, and usually of
 * {@link PIECE}.
 */
export function* jsonSteps(bytes: Uint8Array, limits = JSON_LIMITS): Generator<void, Parsed> {
  if (bytes.length <= PIECE) return parseBytes(bytes, '', '', limits)
  const scan = new Scan(bytes, limits)
  while (scan.at < bytes.length) {
    yield
    const fault = scan.advance(Math.min(scan.at + SCANNED, bytes.length))
    if (fault !== null) return fault
  }
  const root = scan.end()
  if ('fault' in root) return root
  yield
  const [run] = root.runs
  if (run === undefined || root.runs.length > 1) return NOT_JSON
  const { large } = run
  if (large === null) return parseBytes(bytes, '', '', limits)
  const isAlone = isBlank(bytes, 0, large.open) && isBlank(bytes, large.close + 1, bytes.length)
  return isAlone ? yield* build(bytes, large, limits) : NOT_JSON
}

/** An array or object that is open, and its items so far. */
class OpenContainer {
  readonly open: number
  readonly isArray: boolean
  readonly runs: Run[] = []
  #from: number
  #itemFrom: number
  #items = 0
  #large: Container | null = null

  constructor(open: number, isArray: boolean) {
    this.open = open
    this.isArray = isArray
    this.#from = open + 1
    this.#itemFrom = open + 1
  }

  comma(at: number): void {
    this.#items++
    if (this.#large !== null || at - this.#from >= PIECE) this.#endRun(at)
    this.#itemFrom = at + 1
  }

  /** @returns false if an item has two values */
  add(large: Container): boolean {
    if (this.#large !== null) return false
    if (this.#items > 0) this.#endRun(this.#itemFrom - 1)
    this.#large = large
    return true
  }

  close(at: number): Container {
    this.#items++
    this.#endRun(at)
    return { open: this.open, close: at, isArray: this.isArray, runs: this.runs }
  }

  #endRun(to: number): void {
    this.runs.push({ from: this.#from, to, items: this.#items, large: this.#large })
    this.#from = to + 1
    this.#items = 0
    this.#large = null
  }
}

/** Counts, and finds the large containers. What looks like one need not be JSON: pieces are parsed later. */
class Scan {
  at = 0
  readonly #bytes: Uint8Array
  readonly #limits: JsonLimits
  /** The first one stands for the text. */
  readonly #open: [OpenContainer, ...OpenContainer[]] = [new OpenContainer(-1, true)]
  #members = 0
  #parts = 0
  #isInString = false

  constructor(bytes: Uint8Array, limits: JsonLimits) {
    this.#bytes = bytes
    this.#limits = limits
  }

  advance(end: number): { fault: string } | null {
    const bytes = this.#bytes
    let { at } = this
    for (; at < end; at++) {
      const code = bytes[at]
      if (this.#isInString) {
        if (code === BACKSLASH) at++
        else if (code === QUOTE) this.#isInString = false
      } else if (code === QUOTE) this.#isInString = true
      else if (code === COLON) this.#members++
      else if (code === COMMA) {
        this.#parts++
        this.#innermost.comma(at)
      } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
        this.#parts++
        if (this.#open.push(new OpenContainer(at, code === OPEN_ARRAY)) > MAX_DEPTH + 1) return TOO_DEEP
      } else if ((code === CLOSE_OBJECT || code === CLOSE_ARRAY) && !this.#close(at, code === CLOSE_ARRAY))
        return NOT_JSON
    }
    this.at = at
    return overLimit(this.#members, this.#parts, this.#limits)
  }

  /** The container that stands for the text. */
  end(): Container | { fault: string } {
    if (this.#isInString || this.#open.length > 1) return NOT_JSON
    return this.#open[0].close(this.#bytes.length)
  }

  get #innermost(): OpenContainer {
    return this.#open.at(-1) ?? this.#open[0]
  }

  #close(at: number, isArray: boolean): boolean {
    const container = this.#innermost
    if (this.#open.length === 1 || container.isArray !== isArray) return false
    this.#open.pop()
    return at - container.open < PIECE || this.#innermost.add(container.close(at))
  }
}

type Value = unknown[] | Record<string, unknown>

function* build(
  bytes: Uint8Array,
  { open, close, isArray, runs }: Container,
  limits: JsonLimits,
): Generator<void, Parsed> {
  const value: Value = isArray ? [] : {}
  const { inObject = Infinity } = limits
  if (!isArray && runs.reduce((sum, { items }) => sum + items, 0) > inObject)
    return { fault: `has an object with more than ${inObject} members`, isLimit: true }
  if (runs.length === 1 && isBlank(bytes, open + 1, close)) return { value }
  for (const run of runs) {
    yield
    const items =
      run.large === null
        ? small(bytes, run, isArray)
        : yield* largeItem(bytes, { ...run, large: run.large }, isArray, limits)
    if ('fault' in items) return items
    const fault = append(value, items.value, run.items)
    if (fault !== null) return fault
  }
  return { value }
}

/** The items of the run, as an array or object. */
function small(bytes: Uint8Array, { from, to }: Run, isArray: boolean): Parsed {
  const [before, after] = isArray ? ['[', ']'] : ['{', '}']
  return parseBytes(bytes.subarray(from, to), before, after)
}

/** The item with the large value, as an array or object. */
function* largeItem(
  bytes: Uint8Array,
  { from, to, large }: Run & { readonly large: Container },
  isArray: boolean,
  limits: JsonLimits,
): Generator<void, Parsed> {
  if (!isBlank(bytes, large.close + 1, to)) return NOT_JSON
  const item = isArray ? { value: [null] } : parseBytes(bytes.subarray(from, large.open), '{', 'null}')
  if (isArray && !isBlank(bytes, from, large.open)) return NOT_JSON
  if ('fault' in item) return item
  const built = yield* build(bytes, large, limits)
  if ('fault' in built) return built
  const [name = '0'] = Object.keys(item.value as object)
  Object.defineProperty(item.value, name, { ...MEMBER, value: built.value })
  return item
}

const MEMBER = { configurable: true, enumerable: true, writable: true }

/** @param count of the items by the commas: a comma without an item on one side is a fault */
function append(value: Value, items: unknown, count: number): { fault: string } | null {
  if (Array.isArray(value)) {
    if (!Array.isArray(items) || items.length !== count) return NOT_JSON
    for (const each of items) value.push(each)
    return null
  }
  const members = isJsonObject(items) ? Object.entries(items) : []
  if (members.length !== count) return NOT_JSON
  for (const [name, member] of members) {
    if (Object.hasOwn(value, name)) return DUPLICATE
    if (name === '__proto__') Object.defineProperty(value, name, { ...MEMBER, value: member })
    else value[name] = member
  }
  return null
}

function parseBytes(bytes: Uint8Array, before: string, after: string, limits?: JsonLimits): Parsed {
  if (bytes.length > MAX_PIECE) return LONG
  let text: string
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return NOT_UTF8
  }
  return parseJson(before + text + after, limits)
}

/** Whether there is only the white space of JSON. */
function isBlank(bytes: Uint8Array, from: number, to: number): boolean {
  for (let at = from; at < to; at++) {
    const code = bytes[at]
    if (code !== 0x20 && code !== 0x09 && code !== 0x0a && code !== 0x0d) return false
  }
  return true
}
