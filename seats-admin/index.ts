/** The public interface of administration for `src`, besides `model/`. */

export { createAdminApi } from './api/admin-api.ts'
export { bootstrapTenant } from './api/bootstrap.ts'
export type { AdminDeps, AdminEndpoint } from './api/endpoint.ts'
export type { Committed, NumberedChange, Position } from './model/change.ts'
export type { Instance, Registry } from './model/instance.ts'
export type { AsOf } from './model/readings.ts'
export { type AdminRefusal, isRefusal } from './model/refusal.ts'
export type { Scope } from './model/scope.ts'
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
  type Ownership,
  type Page,
  type SeatReader,
  type Store,
  type StoreFault,
  StoreUnavailable,
  type Writer,
  type Written,
} from './store/store.ts'
