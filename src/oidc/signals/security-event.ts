/**
 * Security event tokens (RFC 8417) as the Shared Signals Framework 1.0 profiles them, and the faults that
 * their sender is told (RFC 8935, section 2.4).
 */

import { isDeepStrictEqual } from 'node:util'
import { isJsonObject } from '../../lib/json.ts'
import { audiencesOf, type Claims, type CompactJws, readCompact } from '../tokens/compact-jws.ts'
import { isOpaqueId } from '../tokens/id-token-claims.ts'
import { LEEWAY } from '../provider/provider.ts'
import type { SET_ERRORS } from './set-errors.ts'
import { readIdentifier, type SubjectFault, type UserIdentifier } from './subject-identifier.ts'

/** The most characters of a token, which is the body of a request. */
export const MAX_SET = 256 * 1024
/** Seconds after `iat` within which an event counts. Used tokens are kept for longer. */
const MAX_AGE = 7 * 24 * 3600

export class SetFault {
  readonly err: (typeof SET_ERRORS)[number]
  readonly description: string

  constructor(err: SetFault['err'], description: string) {
    this.err = err
    this.description = description
  }
}

export interface SecurityEvent {
  readonly jws: CompactJws
  readonly jti: string
  /** The `iat`, in ms since the epoch. */
  readonly issuedAt: number
  /** The URI of its type. */
  readonly type: string
  readonly payload: Claims
  /** The subject identifier, unread; undefined: there is none. */
  readonly subject: unknown
}

const malformed = request('The body is not a signed security event token in canonical form.')
const otherType = request('The typ of the token must be secevent+jwt.')
const otherIssuer = new SetFault('invalid_issuer', 'The token is not of the transmitter of this address.')
const otherAudience = new SetFault('invalid_audience', 'The token is not for this receiver.')
const invalidTimes = request(
  'The token has no valid iat, is from the future, older than seven days, or has an exp in the past.',
)
const withSub = request('The token has the claim sub: the subject of an event is its sub_id.')
const noId = request('The token must have a valid jti.')
const noEvent = request('The token must have exactly one event.')
const twoSubjects = request('The token names two different subjects.')

/**
 * Reads a token without verifying its signature.
 *
 * @param now ms since the epoch
 */
export function readSecurityEvent(
  text: string,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
  now: number,
): SecurityEvent | SetFault {
  const jws = readCompact(text, MAX_SET)
  if (jws === null) return malformed
  const { claims } = jws
  if (jws.type !== 'secevent+jwt') return otherType
  if (claims.iss !== issuer) return otherIssuer
  const audiences = audiencesOf(claims)
  if (!audiences.includes(audience) || !audiences.every((each) => typeof each === 'string'))
    return otherAudience
  if (!areTimesValid(claims, now / 1000)) return invalidTimes
  if (claims.sub !== undefined) return withSub
  if (!isOpaqueId(claims.jti)) return noId
  const [[type, payload] = ['', null], ...others] = isJsonObject(claims.events)
    ? Object.entries(claims.events)
    : []
  if (others.length > 0 || !isJsonObject(payload)) return noEvent
  const { sub_id: outer, events: _events } = claims
  const { subject: inner } = payload
  if (outer !== undefined && inner !== undefined && !isDeepStrictEqual(outer, inner)) return twoSubjects
  return {
    jws,
    jti: claims.jti,
    issuedAt: Math.floor(Number(claims.iat) * 1000),
    type,
    payload,
    subject: outer ?? inner,
  }
}

/**
 * JSON allows 1e400, which parses as Infinity: refused.
 *
 * @param now in seconds
 */
function areTimesValid({ iat, exp, nbf }: Claims, now: number): boolean {
  if (!isTime(iat) || iat > now + LEEWAY || iat < now - MAX_AGE - LEEWAY) return false
  if (exp !== undefined && !(isTime(exp) && now < exp + LEEWAY)) return false
  return nbf === undefined || (isTime(nbf) && nbf <= now + LEEWAY)
}

function isTime(value: unknown): value is number {
  return Number.isFinite(value)
}

/** The subject of an event. At least one member is there. */
export interface EventSubject {
  readonly user: UserIdentifier | null
  /** The id of a session, of the gateway or of the provider. */
  readonly session: string | null
}

/**
 * Reads a subject identifier, simple or complex (SSF 1.0, section 3). Members that name no user and no
 * session are ignored.
 */
export function readEventSubject(value: unknown): EventSubject | SubjectFault {
  if (!isJsonObject(value) || value.format !== 'complex') {
    const user = readIdentifier(value)
    return typeof user === 'string' ? user : { user, session: null }
  }
  const user = value.user === undefined ? null : readIdentifier(value.user)
  if (typeof user === 'string') return user
  const session = value.session === undefined ? null : sessionOf(value.session)
  if (session === 'malformed' || session === 'unsupported') return session
  if (user === null && session === null) return 'unsupported'
  return { user, session: session?.id ?? null }
}

function sessionOf(value: unknown): { readonly id: string } | SubjectFault {
  const identifier = readIdentifier(value)
  if (typeof identifier === 'string') return identifier
  if (identifier.format === 'email') return 'unsupported'
  return { id: identifier.format === 'opaque' ? identifier.id : identifier.sub }
}

function request(description: string): SetFault {
  return new SetFault('invalid_request', description)
}
