/** Relays a response whose body is replaced: the response is read whole first. */

import type { Exchange } from '../http/server/exchange.ts'
import type { RelayedCall } from '../http/server/grpc-exchange.ts'
import type { ResponseHead } from '../http/client/upstream-request.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import { FieldTable } from '../http/wire/field-table.ts'
import { Refusal } from '../model/errors.ts'
import type { Refuse, Relaying } from './forward.ts'
import { ResponseRelay, type ResponseRelayOwner } from './response-relay.ts'
import { protocolError, timedOut } from './upstream-faults.ts'

/** Replaces the body of one response. Each method throws if the response violates its protocol. */
export interface BodyFilter {
  begin(head: ResponseHead): void
  /** @returns whether the body is complete, even if the response goes on */
  add(chunk: Buffer): boolean
  /** The body for the client. Rejects with a Refusal, or with the fault of the response. */
  filtered(): Promise<Buffer>
}

/** @param refuse refuses the request in place of its response */
export function filteredBy(filter: BodyFilter, refuse: Refuse): Relaying {
  return {
    headers: (lines) => lines.map(withoutEncodings),
    relay: (exchange, stall, owner) => new FilteredRelay(exchange, stall, owner, filter, refuse),
  }
}

/** The body must be readable. */
function withoutEncodings({ text }: FieldLines): FieldLines {
  return new FieldLines(text.replaceAll(/^accept[-_]encoding:[^\r\n]*\r\n/gim, ''), null)
}

/** Fields of the body that it replaces, and those that its framing has. */
const OF_BODY = /^(?:content-(?:length|md5|digest|range)|repr-digest|digest|etag|transfer-encoding|trailer)$/i

class FilteredRelay extends ResponseRelay {
  readonly #exchange: Exchange
  /** Milliseconds from the head to the end of the body. */
  readonly #time: number
  readonly #owner: RelayedCall
  readonly #filter: BodyFilter
  readonly #refuse: Refuse
  #head: ResponseHead | null = null
  #isComplete = false
  #timer: NodeJS.Timeout | null = null

  constructor(
    exchange: Exchange,
    stall: number,
    owner: ResponseRelayOwner & RelayedCall,
    filter: BodyFilter,
    refuse: Refuse,
  ) {
    super(exchange, stall, owner)
    this.#exchange = exchange
    this.#time = stall
    this.#owner = owner
    this.#filter = filter
    this.#refuse = refuse
  }

  override begin(head: ResponseHead): void {
    this.#filter.begin(head)
    this.#head = head
    this.#timer = setTimeout(() => this.#refuseSlow(), this.#time)
  }

  /** A server that sends comments of a stream of events now and then makes progress without an end. */
  #refuseSlow(): void {
    this.#isComplete = true
    this.#owner.abandon()
    if (!this.#exchange.settled) this.#refuse(this.#exchange, timedOut, null)
  }

  override close(): void {
    this.#stopTimer()
    super.close()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  override write(chunk: Buffer | string): boolean {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, 'latin1') : chunk
    if (this.#isComplete || !this.#filter.add(bytes)) return true
    this.#complete()
    // Nothing that follows counts.
    this.#owner.abandon()
    return true
  }

  override end(): void {
    if (!this.#isComplete) this.#complete()
  }

  #complete(): void {
    this.#isComplete = true
    this.#stopTimer()
    const failed = (cause: unknown) => {
      const refusal = cause instanceof Refusal ? cause : protocolError
      if (!this.#exchange.settled)
        this.#refuse(this.#exchange, refusal, cause instanceof Refusal ? null : cause)
    }
    this.#filter
      .filtered()
      .then((body) => this.#send(body))
      .catch(failed)
  }

  #send(body: Buffer): void {
    // The client is gone, or the request is refused since.
    if (this.#exchange.settled || this.#head === null) return
    const { status, phrase, fields } = this.#head
    const kept = fields.pairs.flatMap((name, at, pairs) =>
      at % 2 === 1 || OF_BODY.test(name) ? [] : [name, pairs[at + 1] ?? ''],
    )
    const replaced = FieldTable.of([...kept, 'Content-Length', String(body.length)])
    if (replaced === null) throw new Error('the fields of the response cannot be written')
    super.begin({ status, phrase, fields: replaced })
    super.write(body)
    super.end([])
  }
}
