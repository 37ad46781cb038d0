/** What the endpoints answer, as far as commands read it: docs/seats-api.md has the whole of it. */

import type { blockView, planAnswer, userView } from '../../../seats-admin/index.ts'
import type { ValueOf } from '../../../seats-admin/model/json-schema.ts'
import type { decision } from '../../access/decisions-endpoint.ts'
import type { listedRoute } from '../../access/routes-endpoint.ts'

export type RouteView = ValueOf<typeof listedRoute>
export type DecisionView = ValueOf<typeof decision>
export type UserView = ValueOf<typeof userView.schema>
export type BlockView = ValueOf<typeof blockView.schema>
export type Plan = ValueOf<typeof planAnswer>
export type PlannedChange = Plan['changes'][number]
export type Warning = Plan['warnings'][number]

export interface SeatView {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
  readonly created_by?: string
  readonly created_at: string
  readonly updated_by?: string
  readonly updated_at?: string
  /** In lists. */
  readonly member_count?: number
  /** In answers to writes. */
  readonly warnings?: readonly Warning[]
}

export interface ApiKeyView {
  readonly id: string
  readonly name: string
  readonly seats: readonly string[]
  readonly created_by: string
  readonly created_at: string
  readonly expires_at?: string
  readonly revoked_at?: string
  readonly last_used_at?: string
  /** In the answer to the creation only. */
  readonly key?: string
  readonly warnings?: readonly Warning[]
}

export interface FleetAnswer {
  readonly data: readonly {
    readonly id: string
    readonly started_at: string | null
    readonly version: string | null
    readonly seq: number
    readonly age_ms: number
    readonly hash: string | null
    readonly url: string | null
  }[]
  readonly changes: readonly {
    readonly seq: number
    readonly at: string
    readonly kind: string
    readonly effective_ms: number | null
  }[]
}

export interface SeatItem {
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
  /** Its former name. */
  readonly was?: string
}

/** The body of `POST /v1/seats/plan` and `POST /v1/seats/apply`. */
export interface PlanBody extends SeatsBody {
  /** Ids of API keys that are to be revoked as well. */
  readonly revoke?: readonly string[]
  /** The `sub` of each user who is to be blocked as well. */
  readonly block?: readonly string[]
}

export interface SeatsBody {
  /** Refused where the API key is of another tenant. */
  readonly tenant?: string
  readonly seats: Readonly<Record<string, SeatItem>>
  readonly prune?: boolean
  readonly versions?: Plan['versions']
}
