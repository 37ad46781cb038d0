/**
 * The response of an MCP server with a list: JSON, or a stream of events (HTML, section 9.2) with the response
 * among them. What the caller may not use is left out. A body that readers could see differently is no list.
 */

import { fieldName } from '../../http/wire/field-name.ts'
import { isJsonObject } from '../../lib/json.ts'
import { jsonSteps, PIECE } from '../../lib/large-json.ts'
import { inShares, mapInShares } from '../../../seats-admin/model/time-share.ts'
import type { BodyFilter } from '../../proxy/filtered-relay.ts'
import { EVENT_STREAM } from '../../proxy/response-relay.ts'
import { turns } from '../in-turn.ts'
import { isJsonType } from '../whole-body.ts'
import { cutSteps } from './list-text.ts'
import { hasOneSpelling } from './mcp-message.ts'

/** Bytes of the body of a list. */
const MAX_LIST = 1024 * 1024
/** The size alone bounds the list: as many members and elements as its bytes can have. */
const LIST_LIMITS = { members: MAX_LIST, elements: MAX_LIST }

/** JSON, or an event. */
const MAY_BE_LIST = /^[\s\xef\xbb\xbf]*(?:[{[]|(?:data|event|id|retry)?:|data[\r\n])/i

const CONTENT_TYPE = fieldName('content-type')
const CONTENT_ENCODING = fieldName('content-encoding')

type Members = Readonly<Record<string, unknown>>

const RESPONSE = ['jsonrpc', 'id', 'method', 'result', 'error']

interface List {
  /** The id of the call. */
  readonly id: string | number | null
  /** The member of the result with the items, and the member of an item with its name. */
  readonly items: string
  readonly member: string
  /** For each name, whether the caller may use it. Rejects with a Refusal if that is not known. */
  usable(names: readonly string[]): Promise<readonly boolean[]>
  /** The caller, as one of those that take turns. */
  readonly owner: string
  /** Whether the client does not wait any more. */
  isGone(): boolean
}

const inTurn = turns()

export class ListBody implements BodyFilter {
  readonly #list: List
  #events: Events | null = null
  #chunks: Buffer[] = []
  #length = 0
  /** An error in another form than JSON: it has no list. */
  #passes = false

  constructor(list: List) {
    this.#list = list
  }

  begin({ status, fields }: Parameters<BodyFilter['begin']>[0]): void {
    const [type = '', ...others] = fields.values(CONTENT_TYPE)
    const isStream = EVENT_STREAM.test(type) && others.length === 0
    if (!/^(?:identity)?$/i.test(fields.values(CONTENT_ENCODING).join(', ')))
      throw new Error('the list has a Content-Encoding')
    this.#passes = status >= 400 && !isStream && !/json/i.test([type, ...others].join())
    if (this.#passes) return
    if (isStream) this.#events = new Events()
    else if (others.length > 0 || !isJsonType(type)) throw new Error('the list is not application/json')
  }

  add(chunk: Buffer): boolean {
    this.#length += chunk.length
    if (this.#length > MAX_LIST) throw new Error(`the list has more than ${MAX_LIST} bytes`)
    if (this.#events !== null) return this.#events.add(chunk)
    this.#chunks.push(chunk)
    return false
  }

  async filtered(): Promise<Buffer> {
    const body = Buffer.concat(this.#chunks)
    // A reader may look at the text alone.
    if (this.#passes && MAY_BE_LIST.test(body.toString('latin1'))) throw new Error('the error may be a list')
    if (this.#passes) return body
    if (this.#events === null) return (await this.#replaced(body)) ?? body
    const { before, data, response } = this.#events.result()
    const replaced = await this.#replaced(data)
    return Buffer.concat([before, replaced === null ? response : withData(response, replaced)])
  }

  /** The response with what the caller may use. Null: it stays as it is. */
  #replaced(text: Buffer): Promise<Buffer | null> {
    const { isGone, owner } = this.#list
    // A small list takes one step.
    return text.length <= PIECE ? this.#filter(text) : inTurn(() => this.#filter(text), isGone, owner)
  }

  async #filter(text: Buffer): Promise<Buffer | null> {
    const parsed = await inShares(jsonSteps(text, LIST_LIMITS))
    if ('fault' in parsed) throw new Error(`the list: ${parsed.fault}`)
    const message = parsed.value
    if (!isJsonObject(message) || 'method' in message || !hasOneSpelling(message, RESPONSE))
      throw new Error('the list is not one response of JSON-RPC')
    if (message['id'] !== this.#list.id) throw new Error('the list answers another message')
    const { result } = message
    if (result === undefined && isJsonObject(message['error'])) return null
    const { items, member } = this.#list
    const all = isJsonObject(result) && hasOneSpelling(result, [items, 'cacheScope']) ? result[items] : null
    if (!isJsonObject(result) || !Array.isArray(all)) throw new Error('the result is no list')
    const kept = await this.#list.usable(await mapInShares(all, (item) => nameOf(item, member)))
    const { cacheScope = 'private' } = result
    if (!kept.includes(false) && cacheScope === 'private') return null
    return Buffer.from(await inShares(cutSteps(text.toString('latin1'), items, kept)), 'latin1')
  }
}

function nameOf(item: unknown, member: string): string {
  const name = isJsonObject(item) && hasOneSpelling(item, [member]) ? item[member] : null
  if (typeof name !== 'string') throw new Error('an item of the list has no name')
  return name
}

/** The events of a stream up to the one with the response. */
class Events {
  /** One growing buffer: a server may send single bytes. */
  #text: Buffer = Buffer.alloc(0)
  #length = 0
  /** The end of the last complete event, and the place up to which the next one is searched for its end. */
  #end = 0
  #at = 0
  /** The line at that place has nothing yet. */
  #isEmpty = true
  #result: { before: Buffer; data: Buffer; response: Buffer } | null = null

  /** @returns whether the response has arrived */
  add(chunk: Buffer): boolean {
    this.#append(chunk)
    while (this.#result === null && this.#findEnd()) this.#read()
    return this.#result !== null
  }

  #append(chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (length > this.#text.length) {
      const larger = Buffer.alloc(Math.max(length, 2 * this.#text.length))
      this.#text.copy(larger, 0, 0, this.#length)
      this.#text = larger
    }
    chunk.copy(this.#text, this.#length)
    this.#length = length
  }

  /** Moves past the first empty line. False: it has not arrived, or a line feed may follow. */
  #findEnd(): boolean {
    for (; this.#at < this.#length; this.#at++) {
      const code = this.#text[this.#at]
      if (code !== CR && code !== LF) {
        this.#isEmpty = false
        continue
      }
      if (code === CR && this.#at + 1 === this.#length) return false
      if (code === CR && this.#text[this.#at + 1] === LF) this.#at++
      if (this.#isEmpty) return ++this.#at > 0
      this.#isEmpty = true
    }
    return false
  }

  #read(): void {
    const event = this.#text.subarray(this.#end, this.#at)
    const data = dataOf(event)
    if (data !== null && !isNotification(data))
      this.#result = { before: this.#text.subarray(0, this.#end), data, response: event }
    this.#end = this.#at
  }

  result() {
    if (this.#result === null) throw new Error('the stream of events has no response')
    return this.#result
  }
}

const CR = 0x0d
const LF = 0x0a

const DATA_LINE = /^data(?::|$)/
/** A field of events, a comment, or the end. Some readers take `Data:` or a space before it for the field. */
const KNOWN_LINE = /^(?:(?:data|event|id|retry)(?::|$)|:|$)/

/** The data of an event, line by line; null: it has none. Throws if readers could see another one. */
function dataOf(event: Buffer): Buffer | null {
  const all = linesOf(event)
  if (!all.every((line) => KNOWN_LINE.test(line)))
    throw new Error('a line of the stream has no field of events')
  const lines = all.flatMap((line) => (DATA_LINE.test(line) ? [line.replace(/^data:? ?/, '')] : []))
  return lines.length === 0 ? null : Buffer.from(lines.join('\n'), 'latin1')
}

/** The event with other data. Its other fields stay. */
function withData(event: Buffer, data: Buffer): Buffer {
  const others = linesOf(event).filter((line) => line !== '' && !DATA_LINE.test(line))
  const own = data
    .toString('latin1')
    .split('\n')
    .map((line) => `data: ${line}`)
  return Buffer.from(`${[...others, ...own].join('\n')}\n\n`, 'latin1')
}

function linesOf(event: Buffer): string[] {
  return event
    .toString('latin1')
    .replace(/^\xef\xbb\xbf/, '')
    .split(/\r\n|\n|\r/)
}

/** Whether the message is a notification, which has no list. Throws if readers could see it differently. */
function isNotification(data: Buffer): boolean {
  const steps = jsonSteps(data, LIST_LIMITS)
  for (;;) {
    const { done, value } = steps.next()
    if (done !== true) continue
    if ('fault' in value || !isJsonObject(value.value)) throw new Error('an event is not one JSON object')
    const message: Members = value.value
    if (!hasOneSpelling(message, RESPONSE)) throw new Error('an event has a member in another case')
    return typeof message['method'] === 'string' && !('result' in message) && !('error' in message)
  }
}
