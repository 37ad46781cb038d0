/** Responses that are streams of server-sent events, from built-in endpoints. */

import { performance } from 'node:perf_hooks'
import type { EventSource, OpenEvents } from '../../seats-admin/model/event-source.ts'
import { type Exchange, Slot } from '../http/server/exchange.ts'
import { nextHop } from '../http/server/next-hop.ts'
import { ResponseFields } from '../http/wire/response-fields.ts'
import { Refusal } from '../model/errors.ts'
import { tenantOf } from '../http/server/request-shares.ts'

/** Open streams of a process, and of a tenant in it. Each holds up to 2,000 events. */
const MAX_STREAMS = 100
const MAX_PER_TENANT = 20
/** Milliseconds between comments: proxies close what is silent, and a client that is gone is found. */
const KEEP_ALIVE = 15_000
const COMMENT = ':\n\n'

const tooMany = new Refusal(
  'unavailable',
  'Too many streams of events are open. Close one, or ask for the list instead.',
)

/** A response of server-sent events in progress. */
interface OpenEventStream {
  /** Completes the response. */
  end(): void
}

/** Empty if the response is no stream of events. */
export const openEventStream = new Slot<OpenEventStream>()

export class EventStreams {
  readonly #open = new Set<Exchange>()
  #draining = false

  /**
   * Begins a stream. Rejects if the source can't begin.
   *
   * @returns the refusal; null if the stream is open, or the client is gone
   */
  async begin(exchange: Exchange, source: EventSource): Promise<Refusal | null> {
    if (exchange.response.destroyed) return null
    if (!this.#hasRoom(exchange)) return tooMany
    // The place is taken before anything is awaited.
    this.#open.add(exchange)
    const stream = new EventStream(exchange, () => this.#open.delete(exchange))
    try {
      await stream.begin(source)
    } catch (cause) {
      this.#open.delete(exchange)
      throw cause
    }
    if (this.#draining) stream.end()
    return null
  }

  /** Ends all streams. */
  end(): void {
    for (const exchange of [...this.#open]) openEventStream.get(exchange)?.end()
  }

  /** Ends all streams, and those that begin from now on. */
  drain(): void {
    this.#draining = true
    this.end()
  }

  #hasRoom(exchange: Exchange): boolean {
    const tenant = tenantOf(exchange)
    const own = [...this.#open].filter((each) => tenantOf(each) === tenant)
    return this.#open.size < MAX_STREAMS && own.length < MAX_PER_TENANT
  }
}

class EventStream implements OpenEventStream {
  readonly #exchange: Exchange
  readonly #closed: () => void
  #open: OpenEvents | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(exchange: Exchange, closed: () => void) {
    this.#exchange = exchange
    this.#closed = closed
  }

  async begin(source: EventSource): Promise<void> {
    const exchange = this.#exchange
    const { response } = exchange
    response.listen({ drained: () => this.#open?.resumed(), closed: () => this.#ended() })
    const open = await source({ write: (text) => this.#write(text) })
    if (response.destroyed) return open.closed()
    this.#open = open
    openEventStream.set(exchange, this)
    this.#writeHead()
    response.flushHeaders()
    // The client may have read the first events before there was a stream to tell.
    open.resumed()
    this.#timer = setInterval(() => {
      if (response.writableLength === 0) this.#write(COMMENT)
    }, KEEP_ALIVE)
  }

  /** A complete response: the client asks again, and learns why where it may not. */
  end(): void {
    this.#exchange.response.end()
  }

  #writeHead(): void {
    const exchange = this.#exchange
    if (exchange.response.headersSent) return
    const hop = nextHop.get(exchange)
    if (hop !== undefined) hop.respondedAt = performance.now()
    const type = [
      'content-type',
      'text/event-stream',
      'cache-control',
      'no-store',
      'x-request-id',
      exchange.id,
    ]
    // nginx does not buffer such a response.
    exchange.response.writeHead(200, ResponseFields.of([...type, 'x-accel-buffering', 'no']))
  }

  #write(text: string): boolean {
    const { response } = this.#exchange
    if (response.destroyed || response.ended) return true
    this.#writeHead()
    const bytes = Buffer.from(text)
    this.#exchange.bytesOut += bytes.length
    return response.write(bytes)
  }

  #ended(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#closed()
    this.#open?.closed()
    this.#open = null
  }
}
