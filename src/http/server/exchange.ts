/** An exchange: one request and its response (RFC 9110, section 3.4) on its way through the pipeline. */

import type { Evaluation } from '../../model/decision.ts'
import type { Refusal } from '../../model/errors.ts'
import { FieldLines } from '../wire/field-lines.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'

/**
 * A place in each exchange for what one mechanism keeps there, such as the trace of a request. Exchanges that
 * the mechanism does not concern have nothing in it. Only the owner of a slot writes it. Slots are made when
 * modules are loaded.
 */
export class Slot<V> {
  static readonly #empty: undefined[] = []
  static readonly #ofDecision: number[] = []
  readonly #at = Slot.#empty.push(undefined) - 1

  /** @param isOfDecision its content follows from the decision, and ends with it */
  constructor(isOfDecision = false) {
    if (isOfDecision) Slot.#ofDecision.push(this.#at)
  }

  /** Empty slots for one exchange. */
  static all(): unknown[] {
    return Slot.#empty.slice()
  }

  /** Empties what follows from the decision: other tables decide the request again. */
  static forgetDecision({ slots }: Exchange): void {
    for (const at of Slot.#ofDecision) slots[at] = undefined
  }

  get({ slots }: Exchange): V | undefined {
    return slots[this.#at] as V | undefined
  }

  set({ slots }: Exchange, value: V): void {
    slots[this.#at] = value
  }
}

/** What every request has. All fields are initialized in a fixed order: one hidden class. */
export class Exchange {
  /** The request. If another proxy asks about a request, the latter takes its place once it is read. */
  request: ClientRequest
  readonly response: ClientResponse
  /**
   * The id of the request. If another proxy asks over gRPC, the id of the request in question takes its place
   * once it is read.
   */
  id: string
  /** Monotonic ms. */
  readonly startedAt: number
  /**
   * The client waits for `100 Continue` before it sends its body (RFC 9110, section 10.1.1), and has not
   * received it yet.
   */
  expectsContinue: boolean
  /** A valid WebSocket handshake: the connection leaves HTTP and carries no further request. */
  handshake: boolean
  /** The evaluation; null before the decision. */
  evaluation: Evaluation | null = null
  /** The refusal of the gateway; null if an upstream or a handler responds. */
  refusal: Refusal | null = null
  /** The internal cause, for the log only. */
  cause: unknown = null
  /** Body bytes received from the client and sent to it. */
  bytesIn = 0
  bytesOut = 0
  /** The client disconnected before the end of the response. */
  aborted = false
  /** Monotonic ms: the end of the response or of the connection. */
  endedAt = 0
  /** The index in `InFlight`; -1 outside it. */
  index = -1
  /** Fields of mechanisms in the log line, as JSON text: each begins with a comma. See {@link note}. */
  logFields = ''
  /** Read and written by each {@link Slot}. */
  readonly slots = Slot.all()
  #requestIdLine: FieldLines | null = null

  constructor(
    request: ClientRequest,
    response: ClientResponse,
    id: string,
    startedAt: number,
    expectsContinue = false,
    handshake = false,
  ) {
    this.request = request
    this.response = response
    this.id = id
    this.startedAt = startedAt
    this.expectsContinue = expectsContinue
    this.handshake = handshake
  }

  /** The request id for the upstream, and for the client with the response of the upstream. */
  get requestIdLine(): FieldLines {
    // Ids are validated or generated: `requestIdOf` in pipeline/request-input.ts.
    this.#requestIdLine ??= new FieldLines(`x-request-id: ${this.id}\r\n`, null)
    return this.#requestIdLine
  }

  /** The evaluation, for stages after it. Throws before it. */
  get evaluated(): Evaluation {
    if (this.evaluation === null) throw new Error('the request is not evaluated yet')
    return this.evaluation
  }

  /**
   * The evaluation, for stages that forward or serve. Throws if it denies the request: if a list lacks the
   * stage that refuses such requests, or has it at the wrong place, the gateway answers 503 and forwards
   * nothing.
   */
  get allowed(): Evaluation {
    const { evaluated } = this
    if (evaluated.refusal !== null) throw new Error('the request is denied')
    return evaluated
  }

  /**
   * Adds a field to the log line.
   *
   * @param name without characters that JSON escapes
   */
  note(name: string, value: unknown): void {
    this.logFields += `,"${name}":${JSON.stringify(value)}`
  }

  /** The exchange is refused or the client is gone: the remaining stages do nothing. */
  get settled(): boolean {
    return this.refusal !== null || this.response.destroyed
  }
}
