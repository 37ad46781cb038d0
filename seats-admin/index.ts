/** The public interface of administration for `src`, besides `model/`. */

export { createAdminApi } from './api/admin-api.ts'
export { type Bootstrapped, bootstrapTenant } from './api/bootstrap.ts'
export type { AdminDeps, AdminEndpoint, AdminReply, AdminRequest, Caller } from './api/endpoint.ts'
export type { ApiKey, StoredApiKey } from './model/api-key.ts'
export type {
  Change,
  ChangeKind,
  ChangeReader,
  Committed,
  FeedReading,
  NumberedChange,
  Position,
} from './model/change.ts'
export type { Instance, Registry } from './model/instance.ts'
export type { AsOf } from './model/readings.ts'
export { type AdminCode, type AdminFault, type AdminRefusal, isRefusal } from './model/refusal.ts'
export type { Scope } from './model/scope.ts'
export type { ListedSeat, SeatInput, StoredSeat } from './model/seat.ts'
export type { SessionRecord } from './model/session.ts'
export type { HealthState } from './store/health.ts'
export { openStore, type StoreLocation } from './store/open.ts'
export type { HandleProof, Renewal, Rotation, SessionStore, StoredSession } from './store/session-store.ts'
export type { PostgresOptions } from './store/postgres/store.ts'
export type { Owner } from './store/sqlite/calls.ts'
export { lockStore, type StoreLock } from './store/sqlite/lock.ts'
export { keepReserve } from './store/sqlite/reserve.ts'
export { openSqliteStore, type SqliteOptions } from './store/sqlite/store.ts'
export {
  type AdminStore,
  type ApiKeyInput,
  type Ownership,
  type Page,
  type SeatReader,
  type Store,
  type StoreFault,
  StoreUnavailable,
  type Writer,
  type Written,
} from './store/store.ts'
