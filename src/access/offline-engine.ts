/** Decides the requests of policy tests and logs by the decision engine of the gateway. */

import { DecisionEngine, type DecisionEngineOptions } from '../decision/engine.ts'
import { exceptionsOf } from '../decision/router/pattern.ts'
import { ReceivedChanges } from '../decision/seats/received-changes.ts'
import { type AuthorizationRequest, NO_CREDENTIALS } from '../model/authorization-request.ts'
import type { Evaluation } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import type { McpCall } from '../model/mcp.ts'
import type { Principal } from '../model/principal.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import type { RequestQuestion } from './mcp-questions.ts'
import type { Tables } from './tables.ts'

export interface OfflineRequest {
  readonly method: string
  readonly target: string
  /** The host; absent if the request names none. */
  readonly host?: string | null
  /** What it calls of an MCP server; absent: nothing. */
  readonly call?: McpCall | undefined
  /** The result of the authentication. */
  readonly caller: Principal | Refusal
  /** The lines of the Space header. */
  readonly space: readonly string[]
  /** The values of another header that names the space; by default, the values of `Space`. */
  readonly field?: readonly string[]
}

export type SeatSource = DecisionEngineOptions['seats']

const unknown = new Refusal('credentials_missing', 'The request has no credential.')

/** An engine without a gateway. Seats stay as they are first read. */
export class OfflineEngine {
  readonly #engine: DecisionEngine
  #caller: Principal | Refusal = unknown

  /** Makes an engine. @param targetBytes the limit of a request target */
  constructor(tables: Tables, seats: SeatSource, targetBytes: number) {
    this.#engine = new DecisionEngine({
      table: tables.table,
      authenticator: { authenticate: () => this.#caller },
      seats,
      restrictions: { restriction: () => null },
      lease: { live: () => true, renewed: async () => {} },
      targetBytes,
      exceptions: (route) => exceptionsOf(tables.upstreams, route),
    })
  }

  /**
   * Decides a request; synchronous if all Seats are in memory. Rejects if the store cannot be asked.
   *
   * @param request a request with a method that the gateway accepts
   */
  decide({
    method,
    target,
    host = null,
    call,
    caller,
    space,
    field = space,
  }: OfflineRequest): Evaluation | Promise<Evaluation> {
    // The engine asks for it before anything is awaited.
    this.#caller = caller
    return this.#engine.evaluate(madeUpRequest({ method, target, host, call }, space, field))
  }
}

/**
 * A request.
 *
 * @param space the lines of its Space header
 * @param field the lines of another header with the space
 */
export function madeUpRequest(
  { method, target, host, call }: RequestQuestion,
  space: readonly string[],
  field = space,
): AuthorizationRequest {
  return {
    method,
    target,
    host,
    credentials: { ...NO_CREDENTIALS, space },
    fields: { linesOf: () => field, call },
    browser: { method, rawHeaders: [], upgrade: false },
  }
}

/** The Seats of one tenant in memory. Their names serve as ids, and none was ever given up. */
export function seatsByName(seats: readonly SeatInput[]): SeatSource {
  const byName = new Map(
    seats.map(({ name, spaces, permissions }) => [
      name,
      { id: name, name, complete: true, spaces: new Set(spaces), permissions: new Set(permissions) },
    ]),
  )
  return {
    received: new ReceivedChanges(),
    seatByName: (_tenant, name) => ({ seat: byName.get(name) ?? null, givenUpAt: null }),
    seatById: (_tenant, id) => byName.get(id) ?? null,
    wholeSeat: async () => null,
    // Callers name their Seats.
    groupsOf: () => null,
    grantsOf: () => null,
  }
}
