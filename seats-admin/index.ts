/** The public interface of administration for `src`, besides `model/`. */

export { createAdminApi } from './api/admin-api.ts'
export { isAdministered } from './api/warnings.ts'
export { areBlocked } from './api/blocked.ts'
export { answerRevocation } from './api/revocation-answer.ts'
export { bootstrapTenant, repairTenant } from './api/bootstrap-tenant.ts'
export { parseDateTime } from './api/date-time.ts'
export { type AdminDeps, type AdminEndpoint, endpoint } from './api/admin-endpoint.ts'
export type { PushTables, TablesService } from './api/pushing.ts'
export type { InstanceFaults, PushedTables, RefusedTables, TableFault } from './model/pushed-tables.ts'
export { isName } from './api/formats.ts'
export { MAX_SCIM_BODY } from './scim/scim-discovery.ts'
export { errorForm } from './scim/scim-fault.ts'
export type { ScimDeps, ScimTenant } from './scim/scim-exchange.ts'
export { serveScim } from './scim/scim-service.ts'
export { checker } from './api/validate-body.ts'
export {
  formatted,
  idOf,
  limitOf,
  limitParameter,
  readParameters,
  someText,
  type Values,
} from './api/parameters.ts'
export type { applySchema, planSchema, seatOfFileSchema } from './api/seats-file-endpoints.ts'
export type { planAnswer } from './api/seats-file-views.ts'
export {
  type createdRevocation as createdRevocationView,
  reachedForm,
  reachedInstance as reachedInstanceView,
} from './api/revocation-views.ts'
export { heldGrant as heldGrantView } from './api/views.ts'
export {
  comparedUser as comparedUserView,
  unseenUser as unseenUserView,
} from './api/scim-comparison-endpoints.ts'
export type {
  block as blockView,
  createdApiKey as createdApiKeyView,
  grant as grantView,
  listedSeat as listedSeatView,
  updatedSeat as updatedSeatView,
  user as userView,
} from './api/views.ts'
export type { ApiKey, KeyUse } from './model/api-key.ts'
export type { AuditEntry, AuditHead } from './model/audit.ts'
export { type Committed, committedOf, type NumberedChange, type Position } from './model/change.ts'
export type {
  FleetView,
  Instance,
  InstanceSecrets,
  RefusedReload,
  Registry,
  ShownGateway,
  Started,
  TenantSecrets,
} from './model/registered-instance.ts'
export type { RestrictionReader, SeatGrantReader } from './model/readings.ts'
export { type AdminRefusal, isRefusal } from './model/refusal.ts'

export type { Scope } from './model/scope.ts'
export type { ListedSeat } from './model/seat.ts'
export type { ListedSession, SessionRecord } from './model/session-record.ts'
export { seatsHeld, type HeldSeatName, type User } from './model/user.ts'
export {
  type ActiveTables,
  NO_TABLES,
  storedTablesOf,
  type TableFiles,
  TABLES_IN_FILES,
  tablesDigest,
  tablesPlaceOf,
  isSameTableSet,
  type TableSet,
  type TablesNotice,
  tablesNoticeOf,
  type TablesVersion,
} from './model/tables-version.ts'
export { tablesTag } from './model/entity-tag.ts'
export { auditEntry } from './store/audit-chain.ts'
export type { AuditStore } from './store/audit-store.ts'
export { AuditStates } from './store/audit-states.ts'
export { AuditVerifier } from './store/audit-verifier.ts'
export type { HealthState } from './store/health.ts'
export { MAX_SCIM_PAGE, type ScimList, type ScimPage } from './store/scim-store.ts'
export { withSeatsFrom } from './store/with-seats-from.ts'
export { inspectStore, lateStore, openStore, type StoreLocation } from './store/open-store.ts'
export type {
  HandleProof,
  LogoutSubject,
  Renewal,
  Rotation,
  SessionStore,
  StoredSession,
} from './store/session-store.ts'
export { userDigest } from './store/session-queries.ts'
export { isTokenState, TOLD_WITHIN, type TokenState } from './model/used-token.ts'
export type {
  AppliedReceipt,
  ProviderRequest,
  RevocationCount,
  RevocationInput,
  RevocationPage,
  RevocationReceipt,
  RevocationStore,
  StoredRevocation,
} from './store/revocation-store.ts'
export { MAX_CANDIDATES } from './store/tables-store.ts'
export type {
  SameTables,
  TablesCandidate,
  TablesPage,
  TablesProposal,
  TablesStore,
} from './store/tables-store.ts'
export type { PostgresOptions } from './store/postgres/postgres-store.ts'
export type { Owner } from './store/sqlite/calls.ts'
export { lockStore, type StoreLock } from './store/sqlite/gateway-lock.ts'
export { hideGateway, showGateway, shownGateway } from './store/sqlite/shown-gateway.ts'
export { openSqliteStore, type SqliteOptions } from './store/sqlite/sqlite-store.ts'
export {
  type AdminStore,
  type Grant,
  type GrantPage,
  type Listing,
  type Page,
  type SeatReader,
  type Store,
  type StoreFault,
  StoreUnavailable,
  type UserPage,
  type Writer,
  type Written,
} from './store/store.ts'
