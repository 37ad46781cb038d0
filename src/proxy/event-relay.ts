/** Relays the response of an MCP server, and knows where a last event may follow in a stream of events. */

import type { Exchange } from '../http/server/exchange.ts'
import type { RelayedCall } from '../http/server/grpc-exchange.ts'
import type { McpExchange } from '../http/server/mcp-exchange.ts'
import type { ResponseHead } from '../http/client/upstream-request.ts'
import { fieldName } from '../http/wire/field-name.ts'
import type { Relaying } from './forward.ts'
import { EVENT_STREAM, ResponseRelay, type ResponseRelayOwner } from './response-relay.ts'

const CONTENT_TYPE = fieldName('content-type')
const CONTENT_LENGTH = fieldName('content-length')
const CONTENT_ENCODING = fieldName('content-encoding')

/** @param mcp is told how its stream of events can be ended */
export function withLastEvent(mcp: McpExchange): Relaying {
  return {
    headers: (lines) => lines,
    relay: (exchange, stall, owner) => new EventRelay(exchange, stall, owner, mcp),
  }
}

class EventRelay extends ResponseRelay {
  readonly #mcp: McpExchange
  readonly #owner: RelayedCall
  readonly #isHttp11: boolean
  #events: EventBoundary | null = null

  constructor(exchange: Exchange, stall: number, owner: ResponseRelayOwner & RelayedCall, mcp: McpExchange) {
    super(exchange, stall, owner)
    this.#mcp = mcp
    this.#owner = owner
    this.#isHttp11 = exchange.request.minor === 1
  }

  override begin(head: ResponseHead): void {
    super.begin(head)
    const { fields } = head
    const isEnded = [CONTENT_LENGTH, CONTENT_ENCODING].some((name) => fields.values(name).length > 0)
    if (isEnded || !this.#isHttp11 || !EVENT_STREAM.test(fields.values(CONTENT_TYPE)[0] ?? '')) return
    const events = new EventBoundary()
    const owner = this.#owner
    this.#events = events
    this.#mcp.stream = { abandon: () => owner.abandon(), isBetweenEvents: () => events.isHere }
  }

  override write(chunk: Buffer | string): boolean {
    if (typeof chunk !== 'string') this.#events?.pass(chunk)
    return super.write(chunk)
  }
}

const CR = 0x0d
const LF = 0x0a
const COLON = 0x3a

/** Finds the boundaries of events (HTML, section 9.2.5). A comment is no part of an event. */
export class EventBoundary {
  #isLineStart = true
  #isComment = false
  /** The event at hand has a field. */
  #hasField = false
  #wasCr = false

  pass(chunk: Uint8Array): void {
    for (const code of chunk) {
      const isSecond = code === LF && this.#wasCr
      this.#wasCr = code === CR
      if (isSecond) continue
      if (code === CR || code === LF) this.#endLine()
      else if (this.#isLineStart) {
        this.#isLineStart = false
        this.#isComment = code === COLON
      }
    }
  }

  #endLine(): void {
    if (this.#isLineStart) this.#hasField = false
    else if (!this.#isComment) this.#hasField = true
    this.#isLineStart = true
  }

  /** Whether no event has begun. */
  get isHere(): boolean {
    return this.#isLineStart && !this.#hasField
  }
}
