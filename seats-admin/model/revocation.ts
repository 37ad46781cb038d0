/**
 * Revocations: what a subject was given before a time T is void, what it is given later passes. Times in ms
 * since the epoch, unless said otherwise.
 */

import type { BlockOrigin } from './block.ts'

/** The subject of a revocation, as `POST /v1/revocations` names it. Exactly one member. */
export type RevocationSubject =
  | { readonly user: string }
  | { readonly api_key: string }
  | { readonly session: string }
  | { readonly issuer: string }
  | { readonly tenant: true }

/**
 * - `existing`: what the subject has now: sessions, tokens, and the API keys that the user owns
 * - `all`: that, and a block of the user
 * - `tokens`: tokens that a user was issued. Sessions stay, and their Seats are mapped again before they
 *   count; the user's API keys stay too. An event of the identity provider does so
 */
export type RevocationScope = 'existing' | 'all' | 'tokens'

/** A revocation as its transaction recorded it. */
export interface Revocation {
  /** A ULID. */
  readonly id: string
  readonly tenant: string
  /** The number of its last change in the feed. */
  readonly seq: number
  /** T: the later of the store's and the writer's time. */
  readonly at: number
  readonly subject: RevocationSubject
  readonly what: RevocationScope
  /** The origin of the block of `all`; absent: `admin`, or there is no block. */
  readonly origin?: BlockOrigin
  /** The end of the block of `all`; null: until it is deleted, or there is no block. */
  readonly until: number | null
  readonly reason: string | null
  /** Whether the revocation of a tenant includes API keys. */
  readonly apiKeys: boolean
  /** The sessions and API keys that it has ended. */
  readonly ended: { readonly sessions: number; readonly apiKeys: number }
  /** The caller's own API key, which stays; null: it was not concerned. */
  readonly keptKey: string | null
  /** The entry `revocation.create` of the audit. */
  readonly audit: { readonly seq: number; readonly hash: string }
}

/**
 * The key of a change of kind `revocation`, as JSON. A commit has one, or several that receipts make again.
 * With `count`, nothing is revoked: each instance counts what a revocation of the subject would cut.
 */
export interface RevocationNotice {
  readonly at: number
  readonly subject: RevocationSubject
  readonly count?: true
  /** With `count`: the ids of the API keys that a revocation would revoke. */
  readonly keys?: readonly string[]
  /**
   * Each session and API key that has ended has a change of its own in the commit. Left out: others may have
   * ended too, and no session and no API key of the tenant in memory counts.
   */
  readonly listed?: true
}

const SUBJECTS: readonly string[] = ['user', 'api_key', 'session', 'issuer', 'tenant']

/** The notice of a change; null for any other text, as a newer version may write it. */
export function noticeOf(key: string): RevocationNotice | null {
  try {
    const notice: RevocationNotice = JSON.parse(key)
    const [kind = '', ...others] = Object.keys(notice.subject)
    return SUBJECTS.includes(kind) && others.length === 0 ? notice : null
  } catch {
    return null
  }
}

/** Whether everything that the notice ends has a change of its own; `null`: a notice of an unknown form. */
export function isListed(notice: RevocationNotice | null): boolean {
  return notice !== null && (notice.listed === true || notice.count === true)
}

export const OPEN_KINDS = ['websockets', 'streams', 'requests'] as const

/** What is open at one instance: a stream is a response that has begun and is no WebSocket. */
export type OpenCounts = Readonly<Record<(typeof OPEN_KINDS)[number], number>>

export const NOTHING_OPEN: OpenCounts = { websockets: 0, streams: 0, requests: 0 }

export function sumOfOpen(counts: Iterable<OpenCounts>): OpenCounts {
  const sum = { ...NOTHING_OPEN }
  for (const { websockets, streams, requests } of counts) {
    sum.websockets += websockets
    sum.streams += streams
    sum.requests += requests
  }
  return sum
}

/** An instance that a revocation has reached. */
export interface ReachedInstance {
  readonly id: string
  /** The host and the pid, for people. */
  readonly name: string
  /** `lease_ended`: it did not answer in time, and no lease of it can be live. */
  readonly how: 'acknowledged' | 'lease_ended'
  /** Milliseconds from the commit until it decided by the revocation. */
  readonly ms: number
  /** What it has cut, or would cut; null: it did not say so within two seconds. */
  readonly cut: OpenCounts | null
  /** False: an older version, which may decide otherwise. */
  readonly understands: boolean
}

/**
 * What a user has lost. Both members null: nothing, so that there is no record.
 */
export interface UserRestriction {
  readonly user: string
  /** The block; null: there is none. */
  readonly block: { readonly until: number | null } | null
  /**
   * Whole seconds since the epoch: a token with an `iat` that is not later is void; null: no revocation.
   */
  readonly cutoff: number | null
}

/**
 * The restrictions of a tenant, with the time of the store at the reading. Blocks that have ended by that
 * time are among them: a process may keep the reading for long, and the clock of the store may have been
 * wrong for a moment.
 */
export interface RestrictionsReading {
  readonly now: number
  /** The restrictions; null: there are too many to keep as a whole, and each user needs a reading. */
  readonly users: readonly UserRestriction[] | null
  /** Issuer → whole seconds since the epoch, as {@link UserRestriction.cutoff}. */
  readonly issuers: Readonly<Record<string, number>>
  /** The cutoff of the whole tenant in whole seconds since the epoch; null: there is none. */
  readonly tenant: number | null
}

/** The restriction of one user, as in {@link RestrictionsReading}. */
export interface UserRestrictionReading {
  readonly now: number
  /** The restriction of the user; null: there is none. */
  readonly restriction: UserRestriction | null
}

/** The subject as text: `user:SUB`, `api_key:ID`, `session:ID`, `issuer:URL` or `tenant`. */
export function subjectText(subject: RevocationSubject): string {
  const [kind = '', value] = Object.entries(subject)[0] ?? []
  return kind === 'tenant' ? kind : `${kind}:${String(value)}`
}
