/**
 * The claims of a token: payload → Principal and times. The payload must come from a token whose signature is
 * verified.
 */

import { readHashPerm } from '../../../seats-admin/model/hash-perm.ts'
import { isSessionId } from '../../../seats-admin/model/session-record.ts'
import { Refusal } from '../../model/errors.ts'
import { foreignSub, isIssuerUser } from '../../model/issuer-user.ts'
import { membershipClaims, type SeatsSource } from '../../model/membership.ts'
import type { SeatClaims, VerifiedToken } from '../../model/principal.ts'
import {
  authorizationBytes,
  listBytes,
  MAP_BYTES,
  MAP_ENTRY_BYTES,
  textBytes,
  textsBytes,
} from '../../lib/heap-size.ts'

type Payload = Readonly<Record<string, unknown>>

const LONG_AGO = -Infinity

const invalidExp = new Refusal('token_invalid', 'The claim exp must be a finite number.')
const invalidNbf = new Refusal('token_invalid', 'The claim nbf must be a finite number.')
const invalidIat = new Refusal('token_invalid', 'The claim iat must be a finite number.')
const invalidSub = new Refusal('token_invalid', 'The claim sub must be a non-empty string.')
const invalidEmail = new Refusal('token_invalid', 'The claim email must be a string.')
const invalidSid = new Refusal('token_invalid', 'The claim sid must be the id of a session.')
const invalidHashPerm = new Refusal('token_invalid', 'The claim hash_perm must be an array of strings.')
const expired = new Refusal('token_expired', 'The token has expired.')
const notYetValid = new Refusal(
  'token_not_yet_valid',
  'The token is not valid yet, or was issued in the future.',
)

/**
 * @param leeway ms
 * @param source what gives the users of the tenant their Seats
 */
export function readClaims(
  payload: Payload,
  tenant: string,
  leeway: number,
  source: SeatsSource = {},
): VerifiedToken | Refusal {
  const { exp, sub } = payload
  if (!isTime(exp)) return invalidExp
  const nbf = optionalTime(payload.nbf)
  if (nbf === null) return invalidNbf
  const iat = optionalTime(payload.iat)
  if (iat === null) return invalidIat
  if (!isText(sub) || sub === '') return invalidSub
  if (isIssuerUser(sub)) return foreignSub
  const email = payload.email ?? null
  if (email !== null && !isText(email)) return invalidEmail
  const session = payload.sid ?? null
  if (session !== null && !(isText(session) && isSessionId(session))) return invalidSid
  const entries = readHashPerm(payload.hash_perm)
  if (entries === null) return invalidHashPerm
  // Whole seconds, so that a token issued within the current second is not from the future.
  const issuedAt = Math.floor(iat)
  const issuedBy = Math.floor(iat - leeway / 1000)
  const named = Object.freeze({ by: 'name' as const, entries, issuedAt: issuedBy })
  const claims = membershipClaims(source, sub, payload.scim_key, issuedBy) ?? named
  return {
    principal: Object.freeze({
      method: 'bearer',
      tenant,
      user: sub,
      email,
      claims,
      owner: sub,
      issuedAt: session === null ? issuedAt : Infinity,
      session,
      validUntil: exp * 1000 + leeway,
    }),
    expiresAt: exp,
    validFrom: Math.max(nbf, issuedAt),
    leeway: leeway / 1000,
  }
}

/**
 * Why the token is not valid at `now` (ms since the epoch); null: it is valid. Checked at every use (RFC
 * 7519, section 4.1.4 ff.).
 */
export function timeRefusal(token: VerifiedToken, now: number): Refusal | null {
  const seconds = now / 1000
  if (!(seconds < token.expiresAt + token.leeway)) return expired
  if (!(seconds + token.leeway >= token.validFrom)) return notYetValid
  return null
}

/**
 * Bytes of heap that a token takes, with its cached authorization and its entry in a cache of tokens. See
 * `lib/heap-size.ts`.
 */
export function verifiedBytes({ principal }: VerifiedToken): number {
  const { user, email, session, claims } = principal
  return VERIFIED + textsBytes([user, email ?? '', session ?? '']) + claimsBytes(claims)
}

/** The bytes of four objects, their numbers and the cache's entry. */
const VERIFIED = 700
/** An array that has grown has up to seventeen unused elements. */
const LIST = 200
/** A name is a slice of its `{space}:{seat}` entry, and retains the whole entry. */
const PIECE = 32

function claimsBytes(claims: SeatClaims): number {
  if (claims.by === 'id') return namesBytes(claims.seats)
  if (claims.by === 'any-space') return namesBytes(claims.names)
  if (claims.by === 'membership') return textBytes(claims.member ?? '') + authorizationBytes(MANY)
  let bytes = MAP_BYTES
  let most = 0
  for (const [space, seats] of claims.entries) {
    bytes += MAP_ENTRY_BYTES + textBytes(space) + LIST
    bytes += listBytes(seats) + (PIECE + textBytes(space)) * seats.length
    most = Math.max(most, seats.length)
  }
  return bytes + authorizationBytes(most)
}

/** The groups of a user are not known here. The Seats of more are counted with their membership. */
const MANY = 16

function namesBytes(names: readonly string[]): number {
  return LIST + listBytes(names) + authorizationBytes(names.length)
}

/** 1e400 is valid JSON and parses as Infinity. */
function isTime(value: unknown): value is number {
  return Number.isFinite(value)
}

/** The time; -Infinity: the claim is absent; null: it is not a number. */
function optionalTime(value: unknown): number | null {
  if (value === undefined) return LONG_AGO
  return isTime(value) ? value : null
}

/**
 * Well-formed Unicode (RFC 7493, section 2.1): different lone surrogates become the same U+FFFD when encoded
 * as UTF-8.
 */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed()
}
