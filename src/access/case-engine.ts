/** Decides made-up requests of callers with given Seats. */

import type { SeatInput } from '../../seats-admin/model/seat.ts'
import type { Decision } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import type { Principal } from '../model/principal.ts'
import { OfflineEngine, seatsByName } from './offline-engine.ts'
import type { Tables } from './tables.ts'

export interface MadeUpRequest {
  readonly method: string
  readonly target: string
  /** Null: the request names none. */
  readonly host: string | null
  /** Names of the caller's Seats; null: the request has no credential. */
  readonly seats: readonly string[] | null
  /** Null: the request has no Space header. */
  readonly space: string | null
}

const missing = new Refusal('credentials_missing', 'The request has no credential.')

export class CaseEngine {
  /** Name of a Seat → its spaces. */
  readonly #spaces: ReadonlyMap<string, readonly string[]>
  readonly #tenant: string
  readonly #engine: OfflineEngine

  /** @param tenant that of every caller @param targetBytes the limit of a request target */
  constructor(tables: Tables, tenant: string, seats: readonly SeatInput[], targetBytes: number) {
    this.#tenant = tenant
    this.#spaces = new Map(seats.map(({ name, spaces }) => [name, spaces]))
    this.#engine = new OfflineEngine(tables, seatsByName(seats), targetBytes)
  }

  decide({ method, target, host, seats, space }: MadeUpRequest): Decision {
    const caller = seats === null ? missing : this.#holderOf(seats, space)
    const evaluation = this.#engine.decide({
      method,
      target,
      host,
      caller,
      space: space === null ? [] : [space],
    })
    if (evaluation instanceof Promise) throw new Error('all Seats are in memory')
    return evaluation.decision
  }

  /** A token as sign-in mints it. It names an unknown Seat in the space of the request. */
  #holderOf(names: readonly string[], space: string | null): Principal {
    const entries = new Map<string, string[]>()
    for (const name of new Set(names))
      for (const each of new Set(this.#spaces.get(name) ?? (space === null ? [] : [space])))
        entries.set(each, [...(entries.get(each) ?? []), name])
    const claims = { by: 'name', entries, issuedAt: Infinity } as const
    const tenant = this.#tenant
    return { method: 'bearer', tenant, user: '', email: null, claims, session: null, validUntil: null }
  }
}
