/** The requests of the simulated world, what each needs, and what a decision has seen of it. */

import type { AuthorizationRequest } from '../../../src/model/authorization-request.ts'
import type { Decision } from '../../../src/model/decision.ts'
import { SESSION_COOKIE } from '../../../src/oidc/session/cookies.ts'
import { compileTable, type RouteTable } from '../../../src/decision/router/table.ts'
import type { Database } from './database.ts'
import type { Random } from '../../support/random.ts'
import {
  BLOCK,
  cookieOf,
  CUTOFFS,
  isVoid,
  KEY,
  NAMES,
  OWNED_KEY,
  PERMISSIONS,
  permissionsOf,
  SEATS,
  SESSION,
  SPACE,
  tagOf,
  type StoredRecord,
  type Token,
} from './records.ts'

/** A token and a cookie name Seats; an API key refers to Seats by their ids. */
export interface Question {
  readonly credential: 'key' | 'token' | 'cookie'
  /** By id for a key, else by name. */
  readonly seats: readonly StoredRecord[]
  /** What the credential ends with: a key, a session, or the cutoffs. */
  readonly record: StoredRecord
  readonly token: Token | null
  readonly request: AuthorizationRequest
}

/**
 * What a decision has seen of a record: the tag of its version; where it tells no version, whether the record exists. Of the cutoffs,
 * whether they void the token.
 */
export type Seen = readonly [record: StoredRecord, seen: number | boolean, token?: Token]

function questionOn(
  seats: readonly StoredRecord[],
  record: StoredRecord,
  token: Token | null = null,
): Question {
  const ids = seats.map(({ id }) => id)
  const credential = record.kind === 'api-key' ? 'key' : token === null ? 'cookie' : 'token'
  const credentials = {
    apiKey: credential === 'key' ? [[record.id, ...ids].join(' ')] : [],
    authorization: token === null ? [] : [textOf(token, ids)],
    cookie: credential === 'cookie' ? [`${SESSION_COOKIE}=${cookieOf(record)}`] : [],
    space: [SPACE],
  }
  const browser = { method: 'GET', rawHeaders: [], upgrade: false }
  const request = { method: 'GET', target: '/things', host: null, credentials, browser }
  return { credential, seats, record, token, request }
}

/** The text of a token: without a signature, its claims. */
export interface TokenText {
  readonly by: Token['by']
  readonly iat: number | undefined
  readonly sid: string | undefined
  readonly names: readonly string[]
}

function textOf({ by, iat, session }: Token, names: readonly string[]): string {
  return JSON.stringify({ by, iat: iat ?? undefined, sid: session?.id, names } satisfies TokenText)
}

const OF_SESSION: Token = { by: 'gateway', iat: 0, session: SESSION }

export const QUESTIONS: readonly Question[] = [
  ...[SEATS, ...SEATS.map((seat) => [seat])].map((seats) => questionOn(seats, KEY)),
  ...[NAMES, ...NAMES.map((name) => [name])].map((names) => questionOn(names, SESSION, OF_SESSION)),
  questionOn(NAMES, SESSION),
  questionOn(SEATS, OWNED_KEY),
]

/** @param iat that of the tokens */
export function questionsOfSession(session: StoredRecord, iat: number): readonly Question[] {
  return [questionOn(NAMES, session), questionOn(NAMES, session, { by: 'gateway', iat, session })]
}

/** With a token that has no session. @param now seconds by the clock of its issuer */
export function questionOfToken(random: Random, now: number): Question {
  const by = random.pick(['gateway', 'gateway', 'provider', 'issuer'] as const)
  const whole = Math.floor(now) + random.pick([-1, 0, 0, 0, 1])
  const iat = by === 'gateway' && random.chance(0.1) ? null : whole + random.pick([0, 0.9])
  return questionOn(random.pick([NAMES, NAMES, [random.pick(NAMES)]]), CUTOFFS, { by, iat, session: null })
}

/** The table before and after a reload: the same path with another permission. */
export const TABLES: readonly RouteTable[] = PERMISSIONS.map((requirement) => {
  const place = { file: 'routes/a.yaml', line: 1, column: 1 }
  const limits = { responseTimeout: null, signIn: null, maxBody: 1 }
  const entry = { method: 'GET', path: '/things', requirement, upstream: 'up', ...limits, place }
  const upstreams = new Map([['up', { allowSemicolons: false, allowEncodedSlashes: false }]])
  return compileTable([entry], upstreams, []).table
})

/** All records that a decision about the question may read. */
export function recordsOf(question: Question): readonly StoredRecord[] {
  return [question.record, ...(isOfUser(question) ? [BLOCK] : []), ...question.seats]
}

/** Whether the credential is of the user that may be blocked. */
function isOfUser({ record, token }: Question): boolean {
  return record !== KEY && token?.by !== 'issuer'
}

/** In the order of the engine's look-ups, up to the one that refuses the request. */
export function seenBy(question: Question, { code, principal, seats: found }: Decision): readonly Seen[] {
  const { credential, seats } = question
  const isVoided = principal === null || code === 'token_revoked'
  const caller = seenOfCaller(question, isVoided ? null : principal)
  if (isVoided) return caller
  const isBlocked = code === 'caller_blocked'
  const restrictions: Seen[] = isOfUser(question) ? [...caller, [BLOCK, isBlocked]] : caller
  if (isBlocked) return restrictions
  const inSeats = seats.map((seat, at): Seen => {
    const entry = found[at]
    const text = (credential === 'key' ? entry?.name : entry?.id) ?? null
    return [seat, entry?.id == null ? false : tagOf(text)]
  })
  return [...restrictions, ...inSeats]
}

/** @param principal null: the credential is void */
function seenOfCaller({ record, token }: Question, principal: Decision['principal']): Seen[] {
  if (record === CUTOFFS && token !== null) return [[record, principal === null, token]]
  if (principal === null || token !== null) return [[record, principal !== null]]
  return [[record, tagOf(principal.email)]]
}

/** Whether the request is allowed in one state of the store. */
export function isAllowedAt(
  database: Database,
  question: Question,
  permission: string,
  seq: number,
): boolean {
  if (!isGenuineAt(database, question, seq)) return false
  if (isOfUser(question) && database.versionAt(BLOCK, seq).exists) return false
  return question.seats.some((seat) => permissionsOf(database.versionAt(seat, seq)).includes(permission))
}

/** Whether the credential counts in one state of the store. */
export function isGenuineAt(database: Database, { record, token }: Question, seq: number): boolean {
  const { exists, revives, cutoffs } = database.versionAt(record, seq)
  return record === CUTOFFS && token !== null ? !isVoid(token, cutoffs) : exists && !revives
}
