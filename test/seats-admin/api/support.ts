/** The endpoints of administration over a real store, called as the gateway calls them. */

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

export interface Asked {
  readonly id?: string
  readonly query?: string
  readonly body?: unknown
  readonly scope?: Scope
  readonly tenant?: string
  readonly by?: string
}

export interface Answered {
  readonly status: number
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of any shape
  readonly body: any
  /** null for a 2xx. */
  readonly refused: AdminRefusal | null
}

export interface Api {
  readonly store: Store
  /** What was announced, in order. */
  readonly announced: Committed[]
  /** ms since the epoch: what the endpoints take for now. */
  clock: number
  /** `POST /v1/seats` and the like; paths as in the table. */
  ask(endpoint: string, asked?: Asked): Promise<Answered>
  /** Fails on a refusal. */
  // oxlint-disable-next-line typescript/no-explicit-any -- as above
  body(endpoint: string, asked?: Asked): Promise<any>
}

export async function startApi(
  t: Test,
  announce: (committed: Committed) => Promise<void> = async () => {},
): Promise<Api> {
  const store = await open(t, { path: join(temporaryFolder(t), 'seatgate.db') })
  const announced: Committed[] = []
  const api: Api = { store, announced, clock: Date.UTC(2030, 0, 1), ask, body }
  const endpoints = createAdminApi({
    store,
    seatBytes: 65_536,
    now: () => api.clock,
    announce: (committed) => {
      announced.push(committed)
      return announce(committed)
    },
  })

  async function ask(name: string, asked: Asked = {}): Promise<Answered> {
    const endpoint = endpoints.find((each) => `${each.method} ${each.path}` === name)
    if (endpoint === undefined) throw new Error(`no endpoint ${name}`)
    const { id = '', query = '', scope = ADMIN, tenant = 'acme', by = 'alice' } = asked
    const params = { id, seat_id: id }
    const reply = await endpoint.handle({ params, query, body: asked.body, caller: { tenant, by, scope } })
    if (isRefusal(reply)) return { status: 0, body: undefined, refused: reply }
    // As it will look on the wire.
    const shown = reply.body === undefined ? undefined : JSON.parse(JSON.stringify(reply.body))
    return { status: reply.status, body: shown, refused: null }
  }

  async function body(name: string, asked?: Asked) {
    const answer = await ask(name, asked)
    if (answer.refused !== null) throw new Error(JSON.stringify(answer.refused))
    return answer.body
  }

  return api
}

export const SEATS = '/v1/seats'
export const SEAT = '/v1/seats/{seat_id}'
export const KEYS = '/v1/api-keys'
export const KEY = '/v1/api-keys/{id}'
