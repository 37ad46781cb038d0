/** Messages between the main thread and the store's threads. */

import { REVOCATION_PATIENCE } from '../revocation-store.ts'
import { PATIENCE } from '../seats-file-rules.ts'
import type { StoreMethods } from '../store-methods.ts'
import type { StoreFault } from '../store.ts'
import type { StoreFiles } from './file.ts'

export type Role = 'reader' | 'lister' | 'writer'

export interface ThreadData {
  readonly role: Role
  readonly path: string
  /** Milliseconds that a statement may wait for another program's lock. */
  readonly busyTimeout: number
  /** Set for the thread that opens the store for all. `first` creates a missing file. Both check the file. */
  readonly opening: 'first' | 'again' | null
  /** The gateway; null for another program. */
  readonly owner: Owner | null
  /** The former files at a reopening, otherwise the required files; null only at the first opening. */
  readonly files: StoreFiles | null
}

/** The gateway that opens the store. See `ownership.ts`. */
export interface Owner {
  /** The identity of the lock file that the gateway holds. */
  readonly lock: string
  /** Whether this process makes the gateway the owner; otherwise the gateway must own the store already. */
  readonly takes: boolean
}

export interface Opened {
  readonly files: StoreFiles
  /** Whether no other gateway or worker may have a lease on the store. */
  readonly alone: boolean
}

export interface Call {
  readonly id: number
  /** A {@link MethodName}, or {@link READY}. */
  readonly method: string
  readonly args: readonly unknown[]
  /** Monotonic ms of `../monotonic.ts`. */
  readonly startedAt: number
  readonly deadline: number
}

/**
 * - `stored`: whether the call has changed rows
 * - `unavailable`: the reason why the store is unavailable
 * - `failed`: a bug
 * - `moved`: the thread's file is not, or no longer, the one at the path; the thread serves no further calls
 * - `superseded`: another gateway owns the store
 */
export type ThreadReply =
  | { readonly id: number; readonly value: unknown; readonly stored: boolean }
  | { readonly id: number; readonly unavailable: string; readonly fault: StoreFault | null }
  | { readonly id: number; readonly failed: string }
  | { readonly moved: string }
  | { readonly superseded: string }

/** The call that a thread executes. */
export interface RunningCall {
  /** Milliseconds since the start of the call. */
  elapsed(): number
  /** Monotonic ms, see `../monotonic.ts`. */
  deadline(): number
  /** Called between the steps of a long operation. */
  throwIfExpired(): void
}

type MethodsByName = Omit<StoreMethods, 'sessions' | 'audit'> & {
  readonly [M in keyof StoreMethods['sessions'] as `sessions.${M}`]: StoreMethods['sessions'][M]
} & { readonly [M in keyof StoreMethods['audit'] as `audit.${M}`]: StoreMethods['audit'][M] }

/** `grantByName`, `sessions.create`, … */
export type MethodName = keyof MethodsByName
export type Method<M extends MethodName> = MethodsByName[M]

/** Calls with long lists, which are sent packed. They may take longer than others, by these factors. */
export const LONG_CALLS: ReadonlyMap<string, number> = new Map<MethodName, number>([
  ['planSeats', PATIENCE],
  ['applySeats', PATIENCE],
  ['revoke', REVOCATION_PATIENCE],
  ['revokeForProvider', REVOCATION_PATIENCE],
  ['applyReceipts', REVOCATION_PATIENCE],
  ['createScimUser', REVOCATION_PATIENCE],
  ['updateScimUser', REVOCATION_PATIENCE],
  ['deleteScimUser', REVOCATION_PATIENCE],
  ['createScimGroup', REVOCATION_PATIENCE],
  ['updateScimGroup', REVOCATION_PATIENCE],
  ['deleteScimGroup', REVOCATION_PATIENCE],
])

/**
 * The thread of each method. Reads of the request path wait neither for the writer's disk access nor for
 * large lists.
 */
export const ROLES: Readonly<Record<MethodName, Role>> = {
  grantByName: 'reader',
  grantById: 'reader',
  spacesByName: 'reader',
  seatByName: 'reader',
  seatById: 'reader',
  apiKeyById: 'reader',
  changesSince: 'reader',
  restrictions: 'reader',
  userRestriction: 'reader',
  grants: 'reader',
  userGrants: 'reader',
  membership: 'reader',
  activeTables: 'reader',
  clock: 'reader',
  readSeat: 'lister',
  listSeats: 'lister',
  seatHolders: 'lister',
  planSeats: 'lister',
  isAdministered: 'lister',
  readApiKey: 'lister',
  listApiKeys: 'lister',
  listBlocks: 'lister',
  listGrants: 'lister',
  readUser: 'lister',
  listUsers: 'lister',
  usersByEmail: 'lister',
  isKnownUser: 'lister',
  usersOfScimId: 'lister',
  listSessions: 'lister',
  revocationById: 'lister',
  listRevocations: 'lister',
  readScimUser: 'lister',
  listScimUsers: 'lister',
  readScimGroup: 'lister',
  listScimGroups: 'lister',
  listScimMembers: 'lister',
  comparedUsers: 'lister',
  unseenUsers: 'lister',
  tablesVersion: 'lister',
  listTables: 'lister',
  tablesCandidates: 'lister',
  tablesCandidate: 'lister',
  candidateAnswers: 'lister',
  listedGroup: 'lister',
  listedGroups: 'lister',
  listedMembers: 'lister',
  createSeat: 'writer',
  updateSeat: 'writer',
  deleteSeat: 'writer',
  applySeats: 'writer',
  createApiKey: 'writer',
  revokeApiKey: 'writer',
  recordKeyUse: 'writer',
  createBlock: 'writer',
  deleteBlock: 'writer',
  createGrant: 'writer',
  deleteGrant: 'writer',
  liftBlock: 'writer',
  recordSignIn: 'writer',
  endSession: 'writer',
  bootstrap: 'writer',
  revoke: 'writer',
  revokeForProvider: 'writer',
  countRevocation: 'writer',
  answerRevocation: 'writer',
  applyReceipts: 'writer',
  createScimUser: 'writer',
  updateScimUser: 'writer',
  deleteScimUser: 'writer',
  recordScimMember: 'writer',
  createScimGroup: 'writer',
  updateScimGroup: 'writer',
  deleteScimGroup: 'writer',
  proposeTables: 'writer',
  answerCandidate: 'writer',
  activateTables: 'writer',
  withdrawTables: 'writer',
  'audit.head': 'reader',
  'audit.list': 'lister',
  'audit.chain': 'lister',
  'audit.prune': 'writer',
  'sessions.readSession': 'reader',
  'sessions.sessionById': 'reader',
  'sessions.loggedOutSince': 'reader',
  'sessions.openSessions': 'reader',
  'sessions.create': 'writer',
  'sessions.rotate': 'writer',
  'sessions.giveBack': 'writer',
  'sessions.claimRenewal': 'writer',
  'sessions.renew': 'writer',
  'sessions.end': 'writer',
  'sessions.endByProvider': 'writer',
  'sessions.endSome': 'writer',
  'sessions.recordLogout': 'writer',
  'sessions.recordToken': 'writer',
  'sessions.prune': 'writer',
}

/** The reply, {@link Opened}, follows when the database is open. */
export const READY = 'ready'
/** Ends the thread after all earlier calls; has no reply. */
export const CLOSE = 'close'
