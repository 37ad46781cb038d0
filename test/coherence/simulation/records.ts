/** The records that are written and read: few, so that writes and requests coincide. */

import type { ActiveTables } from '../../../seats-admin/model/tables-version.ts'
import type { GrantTerm } from '../../../seats-admin/model/grant.ts'
import type { GrantReading, Named } from '../../../seats-admin/model/readings.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { UserRestriction } from '../../../seats-admin/model/revocation.ts'
import type { StoredSession } from '../../../seats-admin/index.ts'
import type { SeatQuestion } from '../../../src/model/decision-seat.ts'
import { sha256 } from '../../../src/oidc/session/session-credentials.ts'

export const TENANT = 'acme'

/**
 * A Seat by its id, the Seat of a name, an API key, a session, the block of a user, whose `sub` is its id, all cutoffs of the
 * tenant, the groups or the grants of another user, the member, or the route tables.
 */
export interface StoredRecord {
  readonly kind:
    | 'seat'
    | 'seat-name'
    | 'api-key'
    | 'session'
    | 'block'
    | 'cutoff'
    | 'membership'
    | 'grant'
    | 'tables'
  readonly id: string
}

/** The state of a record between two writes. */
export interface Version {
  /** The position of the store after the write; 0: before the first. */
  readonly seq: number
  /** What a reader sees of the version: no two versions of a record have the same. */
  readonly tag: number
  /** False: deleted; of a session: ended. */
  readonly exists: boolean
  /** Of a Seat its name; of a name its Seat; of others null. */
  readonly other: StoredRecord | null
  /** Of a session: ms, from then on its Seats are mapped again. */
  readonly renewAt: number
  /** A renewal wrote it after the end of the session, which only a broken variant does. */
  readonly revives: boolean
  /** Of a session: whether a revocation has ended it. */
  readonly revoked: boolean
  /** Of the cutoffs. */
  readonly cutoffs: Cutoffs
  /** Of a grant: true times. */
  readonly term: Term
  /** Of the route tables. */
  readonly tables: ActiveTables | null
}

export interface Term {
  readonly from: number
  readonly until: number
}

export const NO_TERM: Term = { from: Infinity, until: -Infinity }

/** By subject: whole seconds, up to which tokens are void; -1: there is no cutoff. */
export type Cutoffs = Readonly<Record<'user' | 'issuer' | 'tenant', number>>

export const NO_CUTOFFS: Cutoffs = { user: -1, issuer: -1, tenant: -1 }

/** A token. One with a session ends with that, and else by a cutoff. */
export interface Token {
  readonly by: 'gateway' | 'provider' | 'issuer'
  /** Seconds by the clock of its issuer; null: it has none. */
  readonly iat: number | null
  readonly session: StoredRecord | null
}

export const SEATS: readonly StoredRecord[] = [
  { kind: 'seat', id: 'seat-1' },
  { kind: 'seat', id: 'seat-2' },
]
/** The names of {@link SEATS}, until they are exchanged. */
export const NAMES: readonly StoredRecord[] = [
  { kind: 'seat-name', id: 'Viewer' },
  { kind: 'seat-name', id: 'Editor' },
]
export const KEY: StoredRecord = { kind: 'api-key', id: 'key-1' }
/** Of the user. */
export const OWNED_KEY: StoredRecord = { kind: 'api-key', id: 'key-2' }
export const SESSION: StoredRecord = { kind: 'session', id: 'session-1-------------' }
export const BLOCK: StoredRecord = { kind: 'block', id: 'user-1' }

export const CUTOFFS: StoredRecord = { kind: 'cutoff', id: 'cutoffs' }
/** Those that sign-ins create. */
export const NEW_SESSIONS: readonly StoredRecord[] = [2, 3, 4].map((number) => ({
  kind: 'session',
  id: `session-${number}-------------`,
}))
/** Of the user. */
export const SESSIONS: readonly StoredRecord[] = [SESSION, ...NEW_SESSIONS]

/** The user whose groups name Seats; it has no other credential than a token that never ends. */
export const MEMBER = 'member-1'
export const GROUPS: StoredRecord = { kind: 'membership', id: `externalId:${MEMBER}` }
export const GRANT: StoredRecord = { kind: 'grant', id: MEMBER }
/** The Seat of the grant, which is never written. */
export const GRANTED = 'seat-of-grant'
/** What gives the member Seats. */
export const HOLDINGS: readonly StoredRecord[] = [GROUPS, GRANT]

/** The route tables of the store; without a version if they are in files. */
export const TABLES_RECORD: StoredRecord = { kind: 'tables', id: 'tables' }

/** Those that are written, whichever number the schedule has. */
export const RECORDS: readonly StoredRecord[] = [...SEATS, KEY, SESSION, BLOCK, OWNED_KEY]
export const ALL_RECORDS: readonly StoredRecord[] = [
  ...RECORDS,
  ...NAMES,
  CUTOFFS,
  ...NEW_SESSIONS,
  ...HOLDINGS,
  TABLES_RECORD,
]

const BY_ID = new Map(ALL_RECORDS.map((record) => [record.id, record]))

export function recordBy(id: string): StoredRecord {
  const found = BY_ID.get(id)
  if (found === undefined) throw new Error('no such record')
  return found
}

export const SPACE = 's1'
export const PERMISSIONS = ['things:use', 'things:see'] as const

const SECRET = 's'.repeat(43)
export const ISSUER = 'https://issuer.example'

/** The value of the session's cookie. */
export function cookieOf({ id }: StoredRecord): string {
  return `${TENANT}.${id}.${SECRET}`
}

const HASH = new Uint8Array(4)
const COOKIE_HASH = sha256(SECRET)
const HASH_PERM = NAMES.map(({ id }) => `${SPACE}:${id}`)

// A reader of a version sees its tag: in the name of a Seat that is read by its id, in the id of one that is read by its name, in
// the `expiresAt` of a key and in the email of a session. Of a block, a decision tells only whether there is one.

/** The permissions of a Seat. A version may hold both, one, or another one. */
export function permissionsOf({ exists, tag }: Version): readonly string[] {
  if (!exists) return []
  // Most writes have two changes.
  const kind = (tag >> 1) % 4
  if (kind === 0) return ['things:other']
  return kind === 1 ? ['things:use'] : PERMISSIONS
}

/** The store answers one question at a time about the second Seat, which is a large one. */
function grantOf(seat: StoredRecord, version: Version, { permission }: SeatQuestion) {
  const complete = seat !== SEATS[1]
  const all = permissionsOf(version)
  return { complete, spaces: [SPACE], permissions: complete ? all : all.filter((it) => it === permission) }
}

export function seatOf(seat: StoredRecord, version: Version, question: SeatQuestion): GrantReading | null {
  const name = `${version.other?.id}#${version.tag}`
  return version.exists ? { id: seat.id, name, ...grantOf(seat, version, question) } : null
}

export const GRANTED_SEAT: GrantReading = {
  ...{ id: GRANTED, name: GRANTED, complete: true, spaces: [SPACE] },
  permissions: PERMISSIONS,
}

export function namedOf(name: StoredRecord, version: Version, question: SeatQuestion): Named<GrantReading> {
  const { other, exists, tag } = version
  const seat =
    exists && other !== null
      ? { id: `${other.id}#${tag}`, name: name.id, ...grantOf(other, version, question) }
      : null
  return { seat, givenUpAt: null }
}

export function keyOf({ id }: StoredRecord, { tag, exists }: Version): StoredApiKey | null {
  const owner = id === OWNED_KEY.id ? BLOCK.id : null
  return exists
    ? { id, tenant: TENANT, hash: HASH, seatIds: [], expiresAt: tag, revokedAt: null, owner }
    : null
}

export function sessionOf({ id }: StoredRecord, { tag, exists, renewAt, revoked }: Version): StoredSession {
  return {
    id,
    tenant: TENANT,
    cookieHash: COOKIE_HASH,
    user: BLOCK.id,
    email: `${tag}`,
    hashPerm: HASH_PERM,
    issuedAt: 0,
    renewAt,
    expiresAt: Infinity,
    endedAt: exists ? null : 0,
    revoked,
    voidUntil: 0,
    name: null,
    familyHash: null,
    handleHash: null,
    sealed: '',
    providerSession: null,
    createdAt: null,
  }
}

/** @param ofUser the cutoff; -1: there is none */
export function restrictionOf(isBlocked: boolean, ofUser: number): UserRestriction | null {
  const cutoff = orNull(ofUser)
  if (!isBlocked && cutoff === null) return null
  return { user: BLOCK.id, block: isBlocked ? { until: null } : null, cutoff }
}

export function orNull(cutoff: number): number | null {
  return cutoff < 0 ? null : cutoff
}

/** The name of a group of each version, which is no Seat: a decision has seen that version. */
const GROUP = 'group#'

export const isGroup = (name: string): boolean => name.startsWith(GROUP)

/** The groups of the member, in the order of a decision. */
export function groupsOf({ exists, tag }: Version): readonly string[] {
  if (!exists) return []
  const named = [NAMES, NAMES.slice(0, 1), NAMES.slice(1), []][(tag >> 1) % 4] ?? []
  return [`${GROUP}${tag}`, ...named.map(({ id }) => id)]
}

export function grantsOf({ exists, tag, term }: Version): readonly GrantTerm[] {
  return exists ? [{ id: `grant#${tag}`, seat: GRANTED, ...term }] : []
}

/** By the contract: a token is void whose `iat`, rounded down, is not later than the revocation, and one without `iat`. */
export function isVoid({ by, iat }: Token, { user, issuer, tenant }: Cutoffs): boolean {
  const cutoff = Math.max(by === 'issuer' ? issuer : user, tenant)
  return cutoff >= 0 && (iat === null || Math.floor(iat) <= cutoff)
}

/** The tag in the text that a reader sees. */
export function tagOf(text: string | null): number {
  return Number(text?.slice(text.indexOf('#') + 1) ?? NaN)
}
