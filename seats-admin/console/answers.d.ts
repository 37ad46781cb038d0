/** What the gateway's endpoints answer, as far as the console reads it: docs/seats-api.md has the whole of it. */

export interface Paged<T> {
  data: T[]
  has_more: boolean
}

export interface Seat {
  id: string
  name: string
  spaces: string[]
  permissions: string[]
  created_by: string
  created_at: string
  updated_by?: string
  updated_at: string
  warnings?: Warning[]
}

export interface ListedSeat extends Pick<Seat, 'id' | 'name' | 'spaces' | 'permissions' | 'created_at'> {
  member_count: number
}

export interface Warning {
  path: string
  code: string
  message: string
}

export interface ApiKey {
  id: string
  name: string
  seats: string[]
  created_by: string
  created_at: string
  expires_at?: string
  revoked_at?: string
  last_used_at?: string
}

export interface CreatedApiKey extends ApiKey {
  key: string
  warnings?: Warning[]
}

export interface User {
  sub: string
  email: string | null
  last_sign_in: string | null
  seats: string[]
  blocked: boolean
}

/** Of `GET /auth/oidc/me`. */
export interface Me {
  tenant: string
  /** The `sub`, or the id of the API key. */
  user: string
  email: string | null
  auth: string
  admin_space: string
}

export interface Session {
  id: string
  kind: 'browser' | 'program'
  expires_at: string
  created_at?: string
}

export interface Block {
  id: string
  user: string
  created_by: string
  created_at: string
  until?: string
  reason?: string
}

export interface AuditEntry {
  id: string
  at: string
  actor: { kind: string; id: string; name?: string }
  request_id: string | null
  action: string
  target: { kind: string; id: string; name: string | null }
  space: string
  before: Record<string, unknown> | null
  after: Record<string, unknown> | null
}

export interface AccessRow {
  method: string
  path: string
  permission: string
  upstream: string
  space: string | null
  seat: string | null
  host?: string
}

export interface WhoCan {
  seats: { id: string; name: string; spaces: string[]; by: string }[]
  api_keys: { id: string; name: string; seats: string[] }[]
  users: { sub: string; email: string | null; seats: string[]; blocked: boolean }[]
  has_more: boolean
}

export interface PlannedChange {
  action: 'create' | 'update' | 'delete'
  name: string
  was?: string
  id?: string
  spaces_added: string[]
  spaces_removed: string[]
  permissions_added: string[]
  permissions_removed: string[]
  users: number
  api_keys: { count: number; names: string[] }
  routes_gained: { count: number; routes: string[] }
  routes_lost: { count: number; routes: string[] }
}

export interface Plan {
  changes: PlannedChange[]
  warnings: Warning[]
}

export interface RouteRow {
  method: string
  path: string
  permission: string
  upstream: string
  file: string | null
  line: number | null
  /** Null: not counted, of a public route. */
  requests: number | null
  last_at: string | null
  /** Of its table: only where tables list hosts; null for all others. */
  host?: string | null
}

export interface FleetChange {
  seq: number
  at: string
  kind: string
  effective_ms: number | null
}

export interface Fleet {
  data: {
    id: string
    url: string | null
    started_at: string | null
    version: string | null
    seq: number
    age_ms: number
    hash: string | null
  }[]
  changes: FleetChange[]
  /** Null: none is configured. Absent: of an older version. */
  redis?: 'ok' | 'degraded' | null
}

export interface Decision {
  id: string
  at: string
  code: string
  method: string
  path: string
  route: string | null
  permission: string | null
  space: string | null
  user: string | null
  seats: string[]
  request_id: string
}
