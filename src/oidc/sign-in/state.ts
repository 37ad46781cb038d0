/**
 * The state of a pending sign-in. It is encrypted in a cookie of the browser, so the gateway stores nothing
 * for it. Only the id of a completed sign-in is recorded, until its state expires.
 */

import { randomBytes } from 'node:crypto'
import { Refusal } from '../../model/errors.ts'
import { sanitize } from '../provider/log-text.ts'
import type { Context } from '../context.ts'
import { cookieValues, roomForSignIn, setCookie, signInCookieName, stateNamed } from '../session/cookies.ts'
import { sha256 } from '../session/session-credentials.ts'
import { LEEWAY, type Provider } from '../provider/provider.ts'
import { type Derived, openState, sealedLength, sealState } from '../seal.ts'

/** ms */
export const STATE_LIFETIME = 600_000
/** ms that a used id is recorded: until every instance refuses its state as expired. */
const RECORD_LIFETIME = STATE_LIFETIME + LEEWAY * 1000

export interface PendingSignIn extends Derived {
  readonly provider: Provider
  readonly state: string
  readonly epoch: string
  readonly returnTo: string | null
  /** ms since the epoch. */
  readonly startedAt: number
  /** The sign-in started more than STATE_LIFETIME ago. */
  readonly expired: boolean
}

const unavailable = new Refusal('unavailable', 'Sign-in is temporarily unavailable. Try again later.')

/**
 * @returns with values for Set-Cookie: the new sign-in's cookie, and removals of old ones. A Refusal when the
 *   record of completed sign-ins is unavailable, because the sign-in could not complete.
 */
export async function newState(
  context: Context,
  { tenant }: Provider,
  returnTo: string | null,
  cookieLines: readonly string[],
) {
  const epoch = await context.ephemeral
    .epoch()
    .catch((cause: unknown) => signInsUnavailable(context, tenant.id, cause))
  const [secret] = tenant.token.secrets
  if (epoch instanceof Refusal) return epoch
  if (secret === undefined) throw new Error('no secret to seal with')
  const now = context.now()
  const startedAt = Math.floor(now / 1000)
  const text = `${epoch}${returnTo ?? ''}`
  const label = `${tenant.id}.${startedAt.toString(36)}.`
  const room = roomForSignIn(cookieLines, label.length + sealedLength(text), context.cookieBytes)
  const state = room.name === null ? stateOf(now) : stateNamed(stateOf(now), room.name)
  const bound = boundTo({ tenant }, state, startedAt)
  const { sealed, nonce, verifier } = sealState(text, secret, state, bound)
  const own = setCookie(signInCookieName(state), label + sealed, STATE_LIFETIME / 1000)
  return { state, nonce, verifier, cookies: [own, ...room.removed] }
}

/**
 * 240 random bits and the milliseconds within the second, which the cookie's time lacks: a sign-in that
 * begins right after a logout is not one from before it.
 */
function stateOf(now: number): string {
  const bytes = randomBytes(32)
  bytes.writeUInt16BE(Math.floor(now % 1000), MILLISECONDS_AT)
  return bytes.toString('base64url')
}

/** The milliseconds; 0 for most states of an earlier version. */
function millisecondsOf(state: string): number {
  const milliseconds = Buffer.from(state, 'base64url').readUInt16BE(MILLISECONDS_AT)
  return milliseconds < 1000 ? milliseconds : 0
}

const MILLISECONDS_AT = 30

/** Tenant, time in base 36, sealed text. */
const VALUE = /^([a-z0-9-]{1,63})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{22,4000})$/
const STATE = /^[A-Za-z0-9_-]{43}$/
/** Characters of an epoch; see `Ephemeral`. */
const EPOCH_LENGTH = 8

/**
 * @returns null if the browser has no such pending sign-in, or the tenant's provider settings have changed
 */
export function readState(
  context: Context,
  state: string,
  cookieLines: readonly string[],
): PendingSignIn | null {
  if (!STATE.test(state)) return null
  const [value, ...others] = cookieValues(cookieLines, signInCookieName(state))
  const [, tenant = '', time = '', sealed = ''] = VALUE.exec(value ?? '') ?? []
  const provider = context.providers.get(tenant)
  const startedAt = Number.parseInt(time, 36)
  if (provider === undefined || others.length > 0 || startedAt.toString(36) !== time) return null
  const age = context.now() - startedAt * 1000
  const bound = boundTo(provider, state, startedAt)
  const opened = openState(sealed, provider.tenant.token.secrets, state, bound)
  // Started in the future, beyond the allowed clock difference.
  if (opened === null || age < -LEEWAY * 1000) return null
  const { text, nonce, verifier } = opened
  const [epoch, path] = [text.slice(0, EPOCH_LENGTH), text.slice(EPOCH_LENGTH)]
  const expired = !(age < STATE_LIFETIME)
  const returnTo = path === '' ? null : path
  const began = startedAt * 1000 + millisecondsOf(state)
  return { provider, state, epoch, nonce, verifier, returnTo, startedAt: began, expired }
}

/**
 * Records the use of the state, right before the code is redeemed.
 *
 * @returns whether this is the first use on all instances
 */
export async function markUsed(
  context: Context,
  { provider, state, epoch }: PendingSignIn,
): Promise<boolean | Refusal> {
  const { id } = provider.tenant
  const hash = Buffer.from(sha256(state).subarray(0, 16)).toString('base64url')
  try {
    return await context.ephemeral.use(id, epoch, hash, RECORD_LIFETIME)
  } catch (cause) {
    return signInsUnavailable(context, id, cause)
  }
}

/** A value for Set-Cookie that removes the cookie of a completed sign-in. */
export function clearSignInCookie(state: string): string {
  return setCookie(signInCookieName(state), '', 0)
}

/** The state is valid only for the same provider settings and start time. */
function boundTo(
  { tenant: { id, oidc } }: Pick<Provider, 'tenant'>,
  state: string,
  startedAt: number,
): unknown[] {
  return [id, oidc.issuer, oidc.clientId, oidc.redirectUri, state, startedAt]
}

function signInsUnavailable({ log }: Context, tenant: string, cause: unknown): Refusal {
  const reason = sanitize(cause instanceof Error ? cause.message : 'unknown')
  log.warn({ event: 'sign_in_failed', tenant, reason }, 'the record of completed sign-ins is unavailable')
  return unavailable
}
