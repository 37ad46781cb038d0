/** Decides made-up requests of callers with given Seats, by the decision engine of the gateway. */

import type { SeatInput } from '../../seats-admin/model/seat.ts'
import { DecisionEngine } from '../decision/engine.ts'
import type { Decision } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import type { Principal } from '../model/principal.ts'
import type { Route } from '../model/route.ts'
import type { NamedSeat, Seat } from '../model/seat.ts'
import { exceptionsOf, type Tables } from './tables.ts'

export interface MadeUpRequest {
  readonly method: string
  readonly target: string
  /** Names of the caller's Seats; null: the request has no credential. */
  readonly seats: readonly string[] | null
  /** Null: the request has no Space header. */
  readonly space: string | null
}

const NO_BROWSER = { method: 'GET', rawHeaders: [], upgrade: false }
const NO_SEAT: NamedSeat = Object.freeze({ seat: null, givenUpAt: null })
const missing = new Refusal('credentials_missing', 'The request has no credential.')

export class CaseEngine {
  readonly #seats: ReadonlyMap<string, Seat>
  readonly #engine: DecisionEngine
  #caller: Principal | Refusal = missing

  /** @param targetBytes the limit of a request target */
  constructor(tables: Tables, seats: readonly SeatInput[], targetBytes: number) {
    this.#seats = new Map(seats.map((each) => [each.name, compiled(each)]))
    const accepts = (route: Route) => exceptionsOf(tables, route)
    this.#engine = new DecisionEngine({
      table: tables.table,
      authenticator: { authenticate: () => this.#caller },
      seats: {
        generation: 0,
        seatByName: (_tenant, name) => {
          const seat = this.#seats.get(name)
          return seat === undefined ? NO_SEAT : { seat, givenUpAt: null }
        },
        seatById: () => null,
        wholeSeat: async () => null,
      },
      lease: { live: () => true, renewed: async () => {} },
      targetBytes,
      allowsSemicolon: (route) => accepts(route).allowSemicolons,
      allowsEncodedSlash: (route) => accepts(route).allowEncodedSlashes,
    })
  }

  decide({ method, target, seats, space }: MadeUpRequest): Decision {
    this.#caller = seats === null ? missing : this.#holderOf(seats, space)
    const credentials = { apiKey: [], authorization: [], cookie: [], space: space === null ? [] : [space] }
    const request = { method, target, host: null, credentials, browser: { ...NO_BROWSER, method } }
    const evaluation = this.#engine.evaluate(request)
    if (evaluation instanceof Promise) throw new Error('all Seats are in memory')
    return evaluation.decision
  }

  /** A token as sign-in mints it. It names an unknown Seat in the space of the request. */
  #holderOf(names: readonly string[], space: string | null): Principal {
    const entries = new Map<string, string[]>()
    for (const name of new Set(names))
      for (const each of this.#seats.get(name)?.spaces ?? (space === null ? [] : [space]))
        entries.set(each, [...(entries.get(each) ?? []), name])
    const claims = { by: 'name', entries, issuedAt: Infinity } as const
    return { method: 'bearer', tenant: '', user: '', email: null, claims, session: null, validUntil: null }
  }
}

function compiled({ name, spaces, permissions }: SeatInput): Seat {
  return { id: name, name, complete: true, spaces: new Set(spaces), permissions: new Set(permissions) }
}
