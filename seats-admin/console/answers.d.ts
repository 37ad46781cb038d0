/** The answers of the gateway, from its OpenAPI document. Written by `npm run docs`. */

/** By operation. A variable segment of a path is any text. */
export interface Answers {
  'POST /v1/seats': CreatedSeat
  'GET /v1/seats': { data: ListedSeat[]; has_more: boolean; count: number }
  [operation: `GET /v1/seats/${string}`]: Seat
  [operation: `PUT /v1/seats/${string}`]: UpdatedSeat
  [operation: `DELETE /v1/seats/${string}`]: null
  'POST /v1/seats/plan': SeatsPlan
  'POST /v1/seats/apply': AppliedSeats
  'POST /v1/api-keys': CreatedApiKey
  'GET /v1/api-keys': { data: ApiKey[]; has_more: boolean; count: number }
  [operation: `GET /v1/api-keys/${string}`]: ApiKey
  [operation: `DELETE /v1/api-keys/${string}`]: null
  'GET /v1/users': { data: User[]; has_more: boolean; count: number }
  [operation: `GET /v1/users/${string}`]: User
  'GET /v1/sessions': { data: Session[]; has_more: boolean }
  [operation: `DELETE /v1/sessions/${string}`]: null
  'POST /v1/blocks': CreatedBlock
  'GET /v1/blocks': { data: Block[]; has_more: boolean; count: number }
  [operation: `DELETE /v1/blocks/${string}`]: null
  'POST /v1/grants': Grant
  'GET /v1/grants': { data: Grant[]; has_more: boolean; count: number }
  [operation: `DELETE /v1/grants/${string}`]: null
  'POST /v1/revocations': CreatedRevocation
  'GET /v1/revocations': { data: Revocation[]; has_more: boolean; count: number }
  [operation: `GET /v1/revocations/${string}`]: Revocation
  'GET /v1/scim/comparison': { data: ComparedUser[]; has_more: boolean; count: number }
  'GET /v1/scim/unseen-users': { data: UnseenUser[]; has_more: boolean; count: number }
  'GET /v1/scim/groups': { data: ScimGroup[]; has_more: boolean; count: number }
  'GET /v1/scim/members': { data: ScimMember[]; has_more: boolean; count: number }
  'GET /v1/audit': { data: AuditEntry[]; has_more: boolean }
  'GET /v1/access/who-can': { method: string | null; path: string | null; route: string | null; permission: string | null; tenant: string; space: string | null; seats: GrantingSeat[]; api_keys: GrantedApiKey[]; users: GrantedUser[]; exact: boolean; has_more: boolean; host?: string }
  'GET /v1/access/can': { data: AccessRow[]; exact: boolean; has_more: boolean }
  'POST /v1/access/explain': DecisionRecord
  'GET /v1/routes': { data: ListedRoute[]; has_more: boolean }
  'GET /v1/tables': { version: number; hash: string | null; entries: number; created_at: string | null; created_by: { kind: string; id: string; name?: string } | null; files: Record<string, string>; versions: ListedTables[]; has_more: boolean }
  'PUT /v1/tables': { version: number; hash: string; instances: ({ id: string; name: string; how: 'acknowledged' | 'lease_ended'; ms: number; cut: number | null })[]; took_ms: number; changes: TablesChange[] }
  [operation: `GET /v1/tables/${string}`]: { version: number; hash: string | null; entries: number; created_at: string | null; created_by: { kind: string; id: string; name?: string } | null; files: Record<string, string> | null }
  'POST /v1/tables/plan': { equal: boolean; hash: string; changes: TablesChange[] }
  'GET /v1/decisions': { data: Decision[]; has_more: boolean }
  'GET /v1/fleet': { data: FleetInstance[]; changes: FleetChange[]; redis: 'ok' | 'degraded' | null }
  'GET /v1/fleet/secrets': { data: ({ tenant: string; instances: InstanceSecrets[] })[] }
  'GET /v1/canary': null
  'POST /auth/oidc/login': { authorization_url: string; state: string; expires_in: number }
  'POST /auth/oidc/logout': { logged_out: boolean; end_session_url?: string }
  'GET /auth/oidc/me': { tenant: string; user: string; email: string | null; auth: 'api-key' | 'bearer' | 'session' | 'issuer'; admin_space: string; seats_from: 'claim' | 'scim' }
}

/** The body of the answer to an operation, such as `GET /v1/seats`. */
export type Answer<Operation extends string> = Operation extends keyof Answers ? Answers[Operation] : never

/** An item of a list. */
export type Item<Path extends string> = Answer<`GET ${Path}`> extends { data: (infer T)[] } ? T : never

export interface AccessRow { method: string; path: string; permission: string; upstream: string; space: string | null; seat: string | null; host?: string; until?: string }

export interface ApiKey { id: string; name: string; seats: string[]; created_by: string; created_at: string; owner?: string; expires_at?: string; revoked_at?: string; last_used_at?: string }

export interface AppliedChange { action: 'create' | 'update' | 'delete'; name: string; id: string; was?: string }

export interface AppliedSeats { tenant: string; unchanged: number; warnings: Warning[]; changes: AppliedChange[] }

export interface AuditActor { kind: 'user' | 'api-key' | 'command' | 'provider'; id: string; name?: string }

export interface AuditEntry { id: string; seq: number; at: string; tenant: string; actor: AuditActor; request_id: string | null; action: 'seat.create' | 'seat.update' | 'seat.delete' | 'api_key.create' | 'api_key.revoke' | 'block.create' | 'block.delete' | 'session.end' | 'revocation.create' | 'grant.create' | 'grant.delete' | 'scim_user.create' | 'scim_user.update' | 'scim_user.delete' | 'scim_group.create' | 'scim_group.update' | 'scim_group.delete' | 'tables.update' | 'bootstrap'; target: AuditTarget; space: string; before: Record<string, unknown> | null; after: Record<string, unknown> | null; prev: string | null; hash: string }

export interface AuditTarget { kind: 'seat' | 'api-key' | 'block' | 'session' | 'revocation' | 'grant' | 'scim-user' | 'scim-group' | 'tables'; id: string; name: string | null }

export interface Block { id: string; user: string; origin: 'admin' | 'events' | 'scim'; created_by: string; created_at: string; until?: string; reason?: string }

export interface ComparedUser { sub: string; email: string | null; by_sign_in: string[]; by_groups: string[]; scim: 'active' | 'inactive' | 'unknown'; groups_left_out: boolean }

export interface ConsideredSeat { name: string; id: string | null; verdict: 'grants' | 'lacks_permission' | 'not_in_space' | 'unknown' | 'name_given_up'; via?: SeatVia }

export interface CreatedApiKey { id: string; name: string; seats: string[]; created_by: string; created_at: string; key: string; owner?: string; expires_at?: string; revoked_at?: string; last_used_at?: string; warnings?: Warning[] }

export interface CreatedBlock { id: string; user: string; origin: 'admin' | 'events' | 'scim'; created_by: string; created_at: string; until?: string; reason?: string; warnings?: Warning[] }

export interface CreatedRevocation { id: string | null; seq: number | null; at: string; subject: RevocationSubject; what: 'existing' | 'all' | 'tokens'; reason: string | null; state: 'closed' | 'partial'; ended: { sessions: number; api_keys: number; websockets: number; streams: number; requests: number }; instances: ({ id: string; name: string; how: 'acknowledged' | 'lease_ended' | null; ms: number | null; cut: number | null })[]; not_covered: ({ what: 'signed_identity' | 'decision_listener' | 'forwarded_authorization'; until?: string })[]; receipt: string | null; origin?: 'admin' | 'events' | 'scim'; until?: string; api_keys?: boolean; kept?: ({ api_key: string })[]; warnings?: Warning[] }

export interface CreatedSeat { id: string; name: string; spaces: string[]; permissions: string[]; created_by: string; created_at: string; warnings?: Warning[] }

export interface Decision { id: string; at: string; code: string; method: string; path: string; route: string | null; permission: string | null; space: string | null; user: string | null; seats: string[]; request_id: string }

export interface DecisionRecord { answer: 'allow' | 'deny'; code: string; reason: string; method: string; path: string; route: Record<string, unknown> | null; permission: string | null; principal: Record<string, unknown> | null; space: string | null; seats: ConsideredSeat[]; grantedIn: string[]; source: string | null; timings: Record<string, unknown>; config: string | null; caller?: ExplainedCaller; signedIdentity?: Record<string, unknown> }

export interface ExplainedCaller { by: 'seats' | 'user' | 'api_key' | 'none'; known: boolean | null }

export interface FleetChange { seq: number; at: string; kind: 'seat' | 'seat-name' | 'api-key' | 'session' | 'block' | 'revocation' | 'membership' | 'grant' | 'tables' | 'tables-candidate'; effective_ms: number | null }

export interface FleetInstance { id: string; name: string; started_at: string | null; version: string | null; seq: number; age_ms: number; hash: string | null; tables: 'files' | 'store' | null; refused: RefusedReload | null; checks_files: boolean; beat: number; url: string | null }

export interface Grant { id: string; user: string; seat: string; seat_id: string; from: string; until: string; created_by: string; created_at: string; reason?: string }

export interface GrantedApiKey { id: string; name: string; owner: string | null; expires_at: string | null; last_used_at: string | null; seats: string[] }

export interface GrantedUser { sub: string; email: string | null; last_sign_in: string | null; seats: string[]; blocked: boolean; grants?: HeldGrant[] }

export interface GrantingSeat { id: string; name: string; spaces: string[]; by: 'permission' | '*' }

export interface HeldGrant { id: string; seat: string; until: string }

export interface InstanceSecrets { id: string; name: string; age_ms: number; beat: number; signs: string | null; accepts: string[] | null }

export interface ListedRoute { method: string; path: string; permission: string; upstream: string; file: string; line: number; requests: number; last_at: string | null; host?: string | null }

export interface ListedSeat { id: string; name: string; spaces: string[]; permissions: string[]; member_count: number; member_count_exact: boolean; created_at: string }

export interface ListedTables { version: number; hash: string | null; entries: number; created_at: string | null; created_by: { kind: string; id: string; name?: string } | null }

export interface PlannedChange { action: 'create' | 'update' | 'delete'; name: string; spaces_added: string[]; spaces_removed: string[]; permissions_added: string[]; permissions_removed: string[]; users: number; users_after: number; api_keys: { count: number; names: string[] }; routes_gained: { count: number; routes: string[] }; routes_lost: { count: number; routes: string[] }; was?: string; id?: string }

export interface RefusedReload { at: string; faults: number; first: string }

export interface Revocation { id: string; seq: number; at: string; subject: RevocationSubject; what: 'existing' | 'all' | 'tokens'; reason: string | null; state: 'closed' | 'partial'; ended: { sessions: number; api_keys: number; websockets: number; streams: number; requests: number }; instances: ({ id: string; name: string; how: 'acknowledged' | 'lease_ended'; ms: number; cut: number | null })[]; not_covered: ({ what: 'signed_identity' | 'decision_listener' | 'forwarded_authorization'; until?: string })[]; receipt: string | null; origin?: 'admin' | 'events' | 'scim'; until?: string; api_keys?: boolean; kept?: ({ api_key: string })[] }

export interface RevocationSubject { user?: string; api_key?: string; session?: string; issuer?: string; tenant?: boolean }

export interface ScimGroup { id: string; display_name: string; member_count: number; active_count: number; seat_id: string | null; gives_seat: boolean }

export interface ScimMember { id: string; user_name: string; display_name: string | null; active: boolean; users: string[] }

export interface Seat { id: string; name: string; spaces: string[]; permissions: string[]; created_by: string; created_at: string; updated_at: string; updated_by?: string }

export interface SeatVia { group?: string; grant?: string; until?: string }

export interface SeatsPlan { tenant: string; unchanged: number; warnings: Warning[]; space: string; users_exact: boolean; changes: PlannedChange[]; unnamed: { count: number; names: string[] }; versions: Record<string, string | null> }

export interface Session { id: string; user: string; kind: 'browser' | 'program'; expires_at: string; email?: string; created_at?: string }

export interface TablesChange { kind: 'became_public' | 'loosened' | 'added' | 'changed' | 'tightened' | 'removed' | 'rerouted' | 'limits'; method: string; pattern: string; seats: { gain_count: number; lose_count: number; gain: string[]; lose: string[] }; witness: { method: string; path: string; host?: string }; old: TablesEntry | null; new: TablesEntry | null; host?: string; users?: { gain_count: number; lose_count: number; gain: ({ sub: string; email: string | null })[]; lose: ({ sub: string; email: string | null })[] }; api_keys?: { gain_count: number; lose_count: number; gain: ({ id: string; name: string })[]; lose: ({ id: string; name: string })[] } }

export interface TablesEntry { permission: string; upstream: string; file: string; line: number; tenant?: string; space?: string; strip_prefix?: string; base_path?: string }

export interface UnseenUser { id: string; user_name: string; active: boolean; by_groups: string[] }

export interface UpdatedSeat { id: string; name: string; spaces: string[]; permissions: string[]; created_by: string; created_at: string; updated_at: string; updated_by?: string; warnings?: Warning[] }

export interface User { sub: string; email: string | null; last_sign_in: string | null; seats: string[]; blocked: boolean; grants?: HeldGrant[] }

export interface Warning { path: string; code: 'permission_unasked' | 'seat_held' | 'nobody_administers'; message: string }
