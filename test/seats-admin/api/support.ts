/** The Seats API over a real store, called as the gateway calls it. */

import all, { type Test } from 'tap'
import {
  type AdminRefusal,
  type Committed,
  createAdminApi,
  isRefusal,
  type Scope,
  type Store,
} from '../../../seats-admin/index.ts'
import { NOTHING_OPEN, type ReachedInstance } from '../../../seats-admin/model/revocation.ts'
import type { Unreached } from '../../../seats-admin/api/revoking.ts'
import { ADMIN } from '../store/conformance.ts'
import type { AdminEndpoint, AdminReply, RoutePermissions } from '../../../seats-admin/api/admin-endpoint.ts'
import { inTurn } from '../store/in-turn.ts'
import { databases } from '../store/sqlite/support.ts'
import { assertConforms } from '../../support/openapi.ts'
import { problemBody } from '../../../src/http/server/problem.ts'
import { Refusal } from '../../../src/model/errors.ts'

/** One route. */
export const ROUTE_PERMISSIONS: RoutePermissions = {
  has: (permission) => permission === 'trainings:list',
  routesOf: (permission) => (['*', 'trainings:list'].includes(permission) ? ['GET /v1/trainings'] : []),
  nearest: (permission) => (permission === 'trainings:lists' ? 'trainings:list' : null),
}

/** An instance that has said that it cut nothing. */
export const REACHED: ReachedInstance = {
  id: 'one',
  name: 'gw-1 4711',
  how: 'acknowledged',
  ms: 1.23456,
  cut: NOTHING_OPEN,
  understands: true,
}

interface CallInput {
  readonly id?: string
  readonly query?: string
  readonly body?: unknown
  readonly scope?: Scope
  readonly tenant?: string
  readonly by?: string
  /** The kind of the caller's credential; left out: that of a user. */
  readonly kind?: 'user' | 'api-key'
  readonly ifMatch?: string
}

interface CallResult {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read responses of any shape
  readonly body: any
  /** Null for a 2xx. */
  readonly refused: AdminRefusal | null
  /** The entity tag, where the response has one. */
  readonly tag?: string
}

export interface Api {
  readonly store: Store
  readonly endpoints: readonly AdminEndpoint[]
  /** The announced commits, in order. */
  readonly announced: Committed[]
  /** The current time of the endpoints, in ms since the epoch. */
  clock: number
  /** What the gateway does for revocations: what it reaches, and what it does not. */
  readonly gateway: {
    reached: readonly ReachedInstance[]
    unreached: readonly Unreached[]
    sign: ((claims: Readonly<Record<string, unknown>>) => string) | null
    readonly answered: string[]
  }
  /** Calls an endpoint such as `POST /v1/seats`, named as in the table. */
  call(endpoint: string, input?: CallInput): Promise<CallResult>
  /** Throws on a refusal. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  body(endpoint: string, input?: CallInput): Promise<any>
}

const database = inTurn(all, databases())

export async function startApi(
  t: Test,
  announce: (committed: Committed) => Promise<void> = async () => {},
): Promise<Api> {
  const { store } = await database(t)
  const announced: Committed[] = []
  const gateway: Api['gateway'] = { reached: [REACHED], unreached: [], sign: null, answered: [] }
  const endpoints = createAdminApi({
    store,
    seatBytes: 65_536,
    now: () => api.clock,
    routePermissions: () => ROUTE_PERMISSIONS,
    announce: (committed) => {
      announced.push(committed)
      return announce(committed)
    },
    revoking: {
      async revoke(committed) {
        announced.push(committed)
        await announce(committed)
        return gateway.reached
      },
      issuers: (tenant) => (tenant === 'acme' ? ['https://ci.example'] : []),
      unreached: () => gateway.unreached,
      get sign() {
        return gateway.sign
      },
      answered: (state) => gateway.answered.push(state),
    },
  })
  const api: Api = { store, endpoints, announced, clock: Date.UTC(2030, 0, 1), gateway, call, body }

  async function call(name: string, input: CallInput = {}): Promise<CallResult> {
    const endpoint = endpoints.find((each) => `${each.method} ${each.path}` === name)
    if (endpoint === undefined) throw new Error(`no endpoint ${name}`)
    const { id = '', query = '', scope = ADMIN, tenant = 'acme', by = 'alice', kind = 'user' } = input
    const params = { id, seat_id: id }
    const ifMatch = input.ifMatch === undefined ? [] : [input.ifMatch]
    const actor = { kind, name: null } as const
    const caller = { tenant, by, scope, actor, requestId: 'test' }
    const reply = await endpoint.handle({ params, query, body: input.body, ifMatch, caller })
    const response = responseOf(reply)
    const { method, path } = endpoint
    const target = path + (query === '' ? '' : `?${query}`)
    if (isRefusal(reply)) {
      assertConforms({ method, target, ...response })
      return { status: 0, body: undefined, refused: reply }
    }
    const type = 'application/json'
    const sent = input.body === undefined ? {} : { sent: { type, body: JSON.stringify(input.body) } }
    assertConforms({ method, target, ...response, ...sent })
    const [, tag] = reply.headers ?? []
    const shown = response.body === '' ? undefined : JSON.parse(response.body)
    return { status: reply.status, body: shown, refused: null, ...(tag === undefined ? {} : { tag }) }
  }

  async function body(name: string, input?: CallInput) {
    const answer = await call(name, input)
    if (answer.refused !== null) throw new Error(JSON.stringify(answer.refused))
    return answer.body
  }

  return api
}

/** As the gateway sends it. */
function responseOf(reply: AdminReply | AdminRefusal) {
  if (isRefusal(reply)) {
    const refusal = new Refusal(reply.refused, reply.detail, { faults: reply.faults })
    const headers = { 'x-request-id': '1', 'content-type': 'application/problem+json' }
    return { status: refusal.status, headers, body: problemBody(refusal, '1') }
  }
  const [name = '', value] = reply.headers ?? []
  const headers = { 'x-request-id': '1', 'content-type': 'application/json', [name]: value }
  return { status: reply.status, headers, body: reply.body === undefined ? '' : JSON.stringify(reply.body) }
}

/** In answers to writes: a new store has no API key and no user. */
export const UNADMINISTERED = [
  {
    path: '',
    code: 'nobody_administers',
    message:
      'no API key in force and no user who signed in holds a Seat that can administer the tenant: ' +
      'create an API key with such a Seat, or run seatgate bootstrap --tenant acme where the store is',
  },
]

export const SEATS = '/v1/seats'
export const SEAT = '/v1/seats/{seat_id}'
export const KEYS = '/v1/api-keys'
export const KEY = '/v1/api-keys/{id}'
