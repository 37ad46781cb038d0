/** The requests of the simulated world, what each needs, and what a decision has seen of it. */

import type { AuthorizationRequest } from '../../../src/model/authorization-request.ts'
import type { Decision } from '../../../src/model/decision.ts'
import { SESSION_COOKIE } from '../../../src/oidc/session/cookies.ts'
import { compileTable, type RouteTable } from '../../../src/decision/router/table.ts'
import type { Database } from './database.ts'
import {
  BLOCK,
  COOKIE_TEXT,
  KEY,
  NAMES,
  PERMISSIONS,
  permissionsOf,
  SEATS,
  SESSION,
  SPACE,
  tagOf,
  type StoredRecord,
} from './records.ts'

/** A token and a cookie name Seats, and have a session and a user; an API key refers to Seats by their ids. */
export interface Question {
  readonly credential: 'key' | 'token' | 'cookie'
  /** By id for a key, else by name. */
  readonly seats: readonly StoredRecord[]
  readonly request: AuthorizationRequest
}

/** What a decision has seen of a record: the tag of its version; where it tells no version, whether the record exists. */
export type Seen = readonly [record: StoredRecord, seen: number | boolean]

function questionOn(credential: Question['credential'], seats: readonly StoredRecord[]): Question {
  const ids = [seats.map(({ id }) => id).join(' ')]
  const credentials = {
    apiKey: credential === 'key' ? ids : [],
    authorization: credential === 'token' ? ids : [],
    cookie: credential === 'cookie' ? [`${SESSION_COOKIE}=${COOKIE_TEXT}`] : [],
    space: [SPACE],
  }
  const browser = { method: 'GET', rawHeaders: [], upgrade: false }
  return {
    credential,
    seats,
    request: { method: 'GET', target: '/things', host: null, credentials, browser },
  }
}

export const QUESTIONS: readonly Question[] = [
  ...[SEATS, ...SEATS.map((seat) => [seat])].map((seats) => questionOn('key', seats)),
  ...[NAMES, ...NAMES.map((name) => [name])].map((names) => questionOn('token', names)),
  questionOn('cookie', NAMES),
]

/** The table before and after a reload: the same path with another permission. */
export const TABLES: readonly RouteTable[] = PERMISSIONS.map((requirement) => {
  const place = { file: 'routes/a.yaml', line: 1, column: 1 }
  const limits = { responseTimeout: null, signIn: null, maxBody: 1 }
  const entry = { method: 'GET', path: '/things', requirement, upstream: 'up', ...limits, place }
  const upstreams = new Map([['up', { allowSemicolons: false, allowEncodedSlashes: false }]])
  return compileTable([entry], upstreams, []).table
})

/** All records that a decision about the question may read. */
export function recordsOf({ credential, seats }: Question): readonly StoredRecord[] {
  return credential === 'key' ? [KEY, ...seats] : [SESSION, BLOCK, ...seats]
}

/** In the order of the engine's look-ups, up to the one that refuses the request. */
export function seenBy(
  { credential, seats }: Question,
  { code, principal, seats: found }: Decision,
): readonly Seen[] {
  const caller: Seen =
    credential === 'token'
      ? [SESSION, principal !== null]
      : [credential === 'key' ? KEY : SESSION, principal === null ? false : tagOf(principal.email)]
  if (principal === null) return [caller]
  const isBlocked = code === 'caller_blocked'
  const user: Seen[] = credential === 'key' ? [caller] : [caller, [BLOCK, isBlocked]]
  if (isBlocked) return user
  const inSeats = seats.map((record, at): Seen => {
    const entry = found[at]
    const text = (credential === 'key' ? entry?.name : entry?.id) ?? null
    return [record, entry?.id == null ? false : tagOf(text)]
  })
  return [...user, ...inSeats]
}

/** Whether the request is allowed in one state of the store. */
export function isAllowedAt(
  database: Database,
  { credential, seats }: Question,
  permission: string,
  seq: number,
): boolean {
  const exists = (record: StoredRecord) => {
    const version = database.versionAt(record, seq)
    return version.exists && !version.revives
  }
  if (credential === 'key' ? !exists(KEY) : !exists(SESSION) || exists(BLOCK)) return false
  return seats.some((seat) => permissionsOf(database.versionAt(seat, seq)).includes(permission))
}
