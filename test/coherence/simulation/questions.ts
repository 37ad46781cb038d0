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
  GRANT,
  GROUPS,
  groupsOf,
  HOLDINGS,
  isGroup,
  isVoid,
  KEY,
  NAMES,
  OWNED_KEY,
  PERMISSIONS,
  permissionsOf,
  recordBy,
  SEATS,
  SESSION,
  SPACE,
  TABLES_RECORD,
  tagOf,
  type StoredRecord,
  type Term,
  type Token,
  type Version,
} from './records.ts'

/** A token and a cookie name Seats; an API key refers to Seats by their ids; groups and a grant give them to the member. */
export interface Question {
  readonly credential: 'key' | 'token' | 'cookie' | 'groups'
  /** By id for a key, else by name. */
  readonly seats: readonly StoredRecord[]
  /** What the credential ends with: a key, a session, or the cutoffs. */
  readonly record: StoredRecord
  readonly token: Token | null
  readonly request: AuthorizationRequest
}

/**
 * What a decision has seen of a record: the tag of its version; where it tells no version, whether the record exists. Of the cutoffs,
 * whether they void the token; of a grant, whether it counted, and when that was.
 */
export type Seen = readonly [record: StoredRecord, seen: number | boolean, detail?: Token | Moment]

/** When a decision was made, in true time, and by which clocks. */
export class Moment {
  readonly #begun: number
  readonly #ended: number
  readonly #isStoreRight: boolean
  readonly #isWallRight: boolean
  readonly #slowest: number

  /** @param slowest ms that a reading of grants has taken at most */
  constructor(
    [begun, ended]: readonly [begun: number, ended: number],
    isStoreRight: boolean,
    isWallRight: boolean,
    slowest: number,
  ) {
    this.#begun = begun
    this.#ended = ended
    this.#isStoreRight = isStoreRight
    this.#isWallRight = isWallRight
    this.#slowest = slowest
  }

  /** Whether a grant may have counted: one clock that is right keeps a wrong one from giving or extending it. */
  mayCount({ from, until }: Term): boolean {
    const tolerance = RATE * this.#ended + ROUNDING
    const isWithin = this.#ended >= from - tolerance && this.#begun < until + tolerance
    return isWithin || (!this.#isStoreRight && !this.#isWallRight)
  }

  /** Whether a grant must have counted. */
  mustCount({ from, until }: Term): boolean {
    const tolerance = RATE * this.#ended + ROUNDING
    // It begins by the receipt of a reading, and ends by the time before that was sent.
    const begins = from + tolerance + this.#slowest
    const ends = until - tolerance - this.#slowest
    const isWithin = this.#begun >= begins && this.#ended < ends
    return isWithin && this.#isStoreRight && this.#isWallRight
  }
}

/** The part by which a clock runs fast or slow, and some. */
const RATE = 0.12
const ROUNDING = 5

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
  /** Whether it is the token of the member. */
  readonly isMember?: true
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

/** Of a caller whose Seats are those with the names of its groups, and of a grant. */
export const OF_MEMBER: Question = memberQuestion()

function memberQuestion(): Question {
  const token: TokenText = { by: 'gateway', iat: undefined, sid: undefined, names: [], isMember: true }
  const { request, ...rest } = questionOn([], GROUPS)
  const authorization = [JSON.stringify(token)]
  const credentials = { ...request.credentials, authorization, cookie: [] }
  return { ...rest, credential: 'groups', request: { ...request, credentials } }
}

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
  if (question.credential === 'groups') return [TABLES_RECORD, ...HOLDINGS, ...NAMES]
  return [TABLES_RECORD, question.record, ...(isOfUser(question) ? [BLOCK] : []), ...question.seats]
}

/** Whether the credential is of the user that may be blocked. */
function isOfUser({ record, token }: Question): boolean {
  return record !== KEY && record !== GROUPS && token?.by !== 'issuer'
}

/**
 * In the order of the engine's look-ups, up to the one that refuses the request.
 *
 * @param moment left out: grants are not compared
 */
export function seenBy(question: Question, decision: Decision, moment?: Moment): readonly Seen[] {
  const { config, principal } = decision
  const seen = seenOfCallerBy(question, decision, moment)
  // A renewal may find that the session has ended before the changes up to that have arrived, and refuses the request.
  const isRenewed = question.credential === 'cookie' && principal === null
  return config === null || isRenewed ? seen : [[TABLES_RECORD, tagOf(config)], ...seen]
}

function seenOfCallerBy(question: Question, decision: Decision, moment?: Moment): readonly Seen[] {
  const { credential, seats } = question
  if (credential === 'groups') return seenOfMember(decision, moment)
  const { code, principal, seats: found } = decision
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

function seenOfMember({ seats }: Decision, moment?: Moment): readonly Seen[] {
  const [group, ...named] = seats.filter(({ grant }) => grant === undefined)
  const granted = seats.find(({ grant }) => grant !== undefined)?.grant
  const inGroups = named.map(({ name, id }): Seen => [recordBy(name), id === null ? false : tagOf(id)])
  const groups: Seen = [GROUPS, group === undefined ? false : tagOf(group.name)]
  const ofGroups = [groups, ...inGroups]
  return moment === undefined
    ? ofGroups
    : [...ofGroups, [GRANT, granted === undefined ? false : tagOf(granted.id), moment]]
}

/** @param principal null: the credential is void */
function seenOfCaller({ record, token }: Question, principal: Decision['principal']): Seen[] {
  if (record === CUTOFFS && token !== null) return [[record, principal === null, token]]
  if (principal === null || token !== null) return [[record, principal !== null]]
  return [[record, tagOf(principal.email)]]
}

/**
 * Whether the request is allowed in one state of the store.
 *
 * @param isGranted whether the grant of this version counts
 */
export function isAllowedAt(
  database: Database,
  question: Question,
  permission: string,
  seq: number,
  isGranted: (grant: Version) => boolean,
): boolean {
  if (question.credential === 'groups') {
    const grant = database.versionAt(GRANT, seq)
    const named = groupsOf(database.versionAt(GROUPS, seq)).filter((name) => !isGroup(name))
    const seats = named.map((name) => database.versionAt(recordBy(name), seq))
    return (
      (grant.exists && isGranted(grant)) || seats.some((seat) => permissionsOf(seat).includes(permission))
    )
  }
  if (!isGenuineAt(database, question, seq)) return false
  if (isOfUser(question) && database.versionAt(BLOCK, seq).exists) return false
  return question.seats.some((seat) => permissionsOf(database.versionAt(seat, seq)).includes(permission))
}

/** Whether the credential counts in one state of the store. */
export function isGenuineAt(database: Database, { record, token }: Question, seq: number): boolean {
  if (record === GROUPS) return true
  const { exists, revives, cutoffs } = database.versionAt(record, seq)
  return record === CUTOFFS && token !== null ? !isVoid(token, cutoffs) : exists && !revives
}
