/** What commands send to the endpoints, and what these answer, as far as commands read it. */

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

/** The text is in the answer to the creation only. */
export type ApiKeyView = Omit<CreatedApiKey, 'key'> & Partial<Pick<CreatedApiKey, 'key'>>
type CreatedApiKey = ValueOf<typeof createdApiKeyView.schema>

/** What each answer has, and what some have: lists the number of members, writes their warnings. */
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
