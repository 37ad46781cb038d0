/** What the endpoints answer, as far as commands read it: docs/seats-api.md has the whole of it. */

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

export interface Warning {
  /** JSON Pointer into the body. */
  readonly path: string
  readonly code: string
  readonly message: string
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

export interface RouteView {
  readonly method: string
  readonly path: string
  readonly host?: string | null
  readonly permission: string
  readonly upstream: string
  readonly file: string
  readonly line: number
  readonly requests: number
  readonly last_at: string | null
}

export interface DecisionView {
  readonly id: string
  readonly at: string
  readonly code: string
  readonly method: string
  readonly path: string
  readonly space: string | null
  readonly user: string | null
  readonly request_id: string
}

export interface UserView {
  readonly sub: string
  readonly email: string | null
  readonly last_sign_in: string | null
  readonly seats: readonly string[]
  readonly blocked: boolean
}

export interface BlockView {
  readonly id: string
  readonly user: string
  readonly until?: string
  readonly reason?: string
  readonly created_by: string
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

export interface Counted {
  readonly count: number
  readonly names: readonly string[]
}

interface CountedRoutes {
  readonly count: number
  readonly routes: readonly string[]
}

export interface PlannedChange {
  readonly action: 'create' | 'update' | 'delete'
  readonly name: string
  readonly was?: string
  readonly id?: string
  readonly spaces_added: readonly string[]
  readonly spaces_removed: readonly string[]
  readonly permissions_added: readonly string[]
  readonly permissions_removed: readonly string[]
  readonly users: number
  readonly api_keys: Counted
  readonly routes_gained: CountedRoutes
  readonly routes_lost: CountedRoutes
}

export interface Plan {
  readonly tenant: string
  readonly space: string
  readonly changes: readonly PlannedChange[]
  readonly unchanged: number
  /** Seats that no file names, where they are not to be deleted. */
  readonly unnamed: Counted
  readonly warnings: readonly Warning[]
  /** Entity tags by name; null: the Seat is to be created. */
  readonly versions: Readonly<Record<string, string | null>>
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
