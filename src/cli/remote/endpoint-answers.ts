/** What commands send to the endpoints, and the parts of the answers that they read. */

import type {
  applySchema,
  blockView,
  comparedUserView,
  createdApiKeyView,
  createdRevocationView,
  grantView,
  listedSeatView,
  planAnswer,
  planSchema,
  seatOfFileSchema,
  unseenUserView,
  updatedSeatView,
  userView,
} from '../../../seats-admin/index.ts'
import type { RefusedReload } from '../../../seats-admin/model/registered-instance.ts'
import type { ValueOf } from '../../../seats-admin/model/json-schema.ts'
import type { RevocationSubject } from '../../../seats-admin/model/revocation.ts'
import type { decision } from '../../access/decisions-endpoint.ts'
import type { listedRoute } from '../../access/routes-endpoint.ts'
import type {
  activeTablesView,
  listedTables,
  plannedTables,
  pushedTables,
  tablesVersion,
} from '../../access/tables-views.ts'

export type RouteView = ValueOf<typeof listedRoute>
export type ActiveTablesView = ValueOf<typeof activeTablesView>
export type TablesVersionView = ValueOf<typeof tablesVersion>
export type ListedTables = ValueOf<typeof listedTables>
export type PlannedTables = ValueOf<typeof plannedTables>
export type PushedTablesView = ValueOf<typeof pushedTables>
export type DecisionView = ValueOf<typeof decision>
export type UserView = ValueOf<typeof userView.schema>
export type ComparedUserView = ValueOf<typeof comparedUserView.schema>
export type UnseenUserView = ValueOf<typeof unseenUserView.schema>
type CreatedRevocation = ValueOf<typeof createdRevocationView>
/** A revocation, or the preview of one. A gateway of a later version may leave other things uncovered. */
export type RevocationView = Omit<CreatedRevocation, 'subject' | 'not_covered'> & {
  readonly subject: RevocationSubject
  readonly not_covered: readonly { readonly what: string; readonly until?: string }[]
}
export type BlockView = ValueOf<typeof blockView.schema>
export type GrantView = ValueOf<typeof grantView.schema>
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

/** The secrets of the caller's tenant at each instance. */
export interface FleetSecretsAnswer {
  readonly data: readonly {
    readonly tenant: string
    readonly instances: readonly SecretsRow[]
  }[]
}

export interface SecretsRow {
  readonly id: string
  readonly name: string
  readonly age_ms: number
  readonly beat: number
  readonly signs: string | null
  readonly accepts: readonly string[] | null
}

export interface FleetAnswer {
  readonly data: readonly {
    readonly id: string
    /** Left out by an older version. */
    readonly name?: string
    readonly started_at: string | null
    readonly version: string | null
    readonly seq: number
    readonly age_ms: number
    readonly hash: string | null
    readonly url: string | null
    /** Left out by an older version, as the two after it. */
    readonly tables?: 'files' | 'store' | null
    readonly refused?: RefusedReload | null
    readonly checks_files?: boolean
    readonly beat?: number
  }[]
  readonly changes: readonly {
    readonly seq: number
    readonly at: string
    readonly kind: string
    readonly effective_ms: number | null
  }[]
}
