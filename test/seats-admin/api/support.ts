/** The Seats API over a real store, called as the gateway calls it. */

import { join } from 'node:path'
import type { Test } from 'tap'
import {
  type AdminRefusal,
  type Committed,
  createAdminApi,
  isRefusal,
  type Scope,
  type Store,
} from '../../../seats-admin/index.ts'
import { ADMIN } from '../store/conformance.ts'
import { open, temporaryFolder } from '../store/sqlite/support.ts'

export interface CallInput {
  readonly id?: string
  readonly query?: string
  readonly body?: unknown
  readonly scope?: Scope
  readonly tenant?: string
  readonly by?: string
}

export interface CallResult {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests read responses of any shape
  readonly body: any
  /** Null for a 2xx. */
  readonly refused: AdminRefusal | null
}

export interface Api {
  readonly store: Store
  /** The announced commits, in order. */
  readonly announced: Committed[]
  /** The current time of the endpoints, in ms since the epoch. */
  clock: number
  /** Calls an endpoint such as `POST /v1/seats`, named as in the table. */
  call(endpoint: string, input?: CallInput): Promise<CallResult>
  /** Throws on a refusal. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  body(endpoint: string, input?: CallInput): Promise<any>
}

export async function startApi(
  t: Test,
  announce: (committed: Committed) => Promise<void> = async () => {},
): Promise<Api> {
  const store = await open(t, { path: join(temporaryFolder(t), 'seatgate.db') })
  const announced: Committed[] = []
  const api: Api = { store, announced, clock: Date.UTC(2030, 0, 1), call, body }
  const endpoints = createAdminApi({
    store,
    seatBytes: 65_536,
    now: () => api.clock,
    announce: (committed) => {
      announced.push(committed)
      return announce(committed)
    },
  })

  async function call(name: string, input: CallInput = {}): Promise<CallResult> {
    const endpoint = endpoints.find((each) => `${each.method} ${each.path}` === name)
    if (endpoint === undefined) throw new Error(`no endpoint ${name}`)
    const { id = '', query = '', scope = ADMIN, tenant = 'acme', by = 'alice' } = input
    const params = { id, seat_id: id }
    const reply = await endpoint.handle({ params, query, body: input.body, caller: { tenant, by, scope } })
    if (isRefusal(reply)) return { status: 0, body: undefined, refused: reply }
    // As serialized in the response.
    const shown = reply.body === undefined ? undefined : JSON.parse(JSON.stringify(reply.body))
    return { status: reply.status, body: shown, refused: null }
  }

  async function body(name: string, input?: CallInput) {
    const answer = await call(name, input)
    if (answer.refused !== null) throw new Error(JSON.stringify(answer.refused))
    return answer.body
  }

  return api
}

export const SEATS = '/v1/seats'
export const SEAT = '/v1/seats/{seat_id}'
export const KEYS = '/v1/api-keys'
export const KEY = '/v1/api-keys/{id}'
