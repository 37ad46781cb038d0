/**
 * What a token says: payload → Principal and the time it is good for. Only ever given the payload of a token whose
 * signature is good.
 */

import { readHashPerm } from '../../../seats-admin/model/hash-perm.ts'
import { Refusal } from '../../model/errors.ts'
import type { Principal, SeatClaims } from '../../model/principal.ts'
import { listBytes, MAP_BYTES, MAP_ENTRY_BYTES, authorizationBytes, textBytes } from '../../lib/heap-size.ts'

/** A token whose signature is good. Whether it is valid now is another question: {@link untimely}. */
export interface VerifiedToken {
  readonly principal: Principal
  /** Seconds since the epoch, by `exp`: the first moment at which it is no longer valid. */
  readonly expiresAt: number
  /** Seconds since the epoch, by `nbf` and `iat`; -Infinity when it has neither. */
  readonly validFrom: number
  /** Seconds that the clocks may differ. */
  readonly leeway: number
  /** Milliseconds after which the signature is checked again, as its key may have been withdrawn; left out: never. */
  readonly rememberFor?: number
}

type Payload = Readonly<Record<string, unknown>>

const LONG_AGO = -Infinity

const noExp = new Refusal('token_invalid', 'The claim exp must be a finite number.')
const oddNbf = new Refusal('token_invalid', 'The claim nbf must be a finite number.')
const oddIat = new Refusal('token_invalid', 'The claim iat must be a finite number.')
const noSub = new Refusal('token_invalid', 'The claim sub must be a text that is not empty.')
const oddEmail = new Refusal('token_invalid', 'The claim email must be a text.')
const oddHashPerm = new Refusal('token_invalid', 'The claim hash_perm must be an array of strings.')
const expired = new Refusal('token_expired', 'The token has expired.')
const early = new Refusal('token_not_yet_valid', 'The token is not valid yet, or was issued in the future.')

/** @param leeway ms */
export function readClaims(payload: Payload, tenant: string, leeway: number): VerifiedToken | Refusal {
  const { exp, sub } = payload
  if (!isTime(exp)) return noExp
  const nbf = optionalTime(payload.nbf)
  if (nbf === null) return oddNbf
  const iat = optionalTime(payload.iat)
  if (iat === null) return oddIat
  if (!isText(sub) || sub === '') return noSub
  const email = payload.email ?? null
  if (email !== null && !isText(email)) return oddEmail
  const entries = readHashPerm(payload.hash_perm)
  if (entries === null) return oddHashPerm
  // Whole seconds, so that a token issued in this very second is not from the future.
  const issuedAt = Math.floor(iat)
  const issuedBy = Math.floor(iat - leeway / 1000)
  const claims = Object.freeze({ by: 'name' as const, entries, issuedAt: issuedBy })
  return {
    principal: Object.freeze({
      method: 'bearer',
      tenant,
      user: sub,
      email,
      claims,
      session: null,
      validUntil: exp * 1000 + leeway,
    }),
    expiresAt: exp,
    validFrom: Math.max(nbf, issuedAt),
    leeway: leeway / 1000,
  }
}

/** Why it is not valid at `now` (ms since the epoch); null if it is. Asked at every use: RFC 7519, section 4.1.4 ff. */
export function untimely(token: VerifiedToken, now: number): Refusal | null {
  const seconds = now / 1000
  if (!(seconds < token.expiresAt + token.leeway)) return expired
  if (!(seconds + token.leeway >= token.validFrom)) return early
  return null
}

/** What it takes of the heap with what is made of it, the place in a map of tokens included; see `heap-size.ts`. */
export function verifiedBytes({ principal: { user, email, claims } }: VerifiedToken): number {
  return VERIFIED + textBytes(user) + textBytes(email ?? '') + claimsBytes(claims)
}

/** Four objects, their numbers, and what a map of tokens has for each. */
const VERIFIED = 600
/** A list that has grown has up to seventeen places before its second text. */
const LIST = 200
/** A name is a piece of its entry, all of which it keeps. */
const PIECE = 32

function claimsBytes(claims: SeatClaims): number {
  if (claims.by === 'id') return namesBytes(claims.seats)
  if (claims.by === 'any-space') return namesBytes(claims.names)
  let bytes = MAP_BYTES
  let most = 0
  for (const [space, seats] of claims.entries) {
    bytes += MAP_ENTRY_BYTES + textBytes(space) + LIST
    bytes += listBytes(seats) + (PIECE + textBytes(space)) * seats.length
    most = Math.max(most, seats.length)
  }
  return bytes + authorizationBytes(most)
}

function namesBytes(names: readonly string[]): number {
  return LIST + listBytes(names) + authorizationBytes(names.length)
}

/** 1e400 is a JSON number and reads as Infinity. */
function isTime(value: unknown): value is number {
  return Number.isFinite(value)
}

/** An absent one has always passed; null for one that is no time. */
function optionalTime(value: unknown): number | null {
  if (value === undefined) return LONG_AGO
  return isTime(value) ? value : null
}

/** Lone surrogates are no text (RFC 7493, section 2.1): stored or sent on they become one and the same character. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value.isWellFormed()
}
