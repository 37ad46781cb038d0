/** What commands send to the endpoints, and the parts of the answers that they read. */

import type {
  applySchema,
  blockView,
  createdApiKeyView,
  listedSeatView,
  planAnswer,
  planSchema,
  seatOfFileSchema,
  updatedSeatView,
  userView,
} from '../../../seats-admin/index.ts'
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

export type SeatItem = ValueOf<typeof seatOfFileSchema>
export type SeatsBody = ValueOf<typeof applySchema>
export type PlanBody = ValueOf<typeof planSchema>

/** An API key. Only the answer to its creation has the text. */
export type ApiKeyView = Omit<CreatedApiKey, 'key'> & Partial<Pick<CreatedApiKey, 'key'>>
type CreatedApiKey = ValueOf<typeof createdApiKeyView.schema>

/** A Seat with the members that some answers have: lists have the number of users, writes have warnings. */
export type SeatView = Omit<ListedSeat, 'member_count'> & Partial<ListedSeat & UpdatedSeat>
type ListedSeat = ValueOf<typeof listedSeatView.schema>
type UpdatedSeat = ValueOf<typeof updatedSeatView.schema>

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

/** The subject of a revocation, as it is sent; exactly one member. */
import type { RevocationSubject } from '../../../seats-admin/model/revocation.ts'

export interface RevocationView {
  readonly id: string | null
  readonly seq: number | null
  readonly at: string
  readonly subject: RevocationSubject
  readonly what: 'existing' | 'all'
  readonly until?: string
  readonly reason: string | null
  readonly state: 'closed' | 'partial'
  readonly ended: Readonly<
    Record<'sessions' | 'api_keys' | 'websockets' | 'streams' | 'requests', number | null>
  >
  readonly instances: readonly {
    readonly id: string
    readonly name: string
    readonly how: 'acknowledged' | 'lease_ended' | null
    readonly ms: number | null
    readonly cut: number | null
  }[]
  readonly kept?: readonly { readonly api_key: string }[]
  readonly not_covered: readonly { readonly what: string; readonly until?: string }[]
  readonly receipt: string | null
  readonly warnings?: readonly Warning[]
}
