/**
 * A sign-in under way: what was sent to the provider and must come back. It is sealed in a cookie of the browser that
 * began it, so the gateway keeps nothing for it. Only the id of one that is finished is kept, until its state expires.
 */

import { Refusal } from '../../model/errors.ts'
import { cleaned } from '../provider/log-text.ts'
import type { Context } from '../context.ts'
import { cookieValues, setCookie, signInCookie } from '../session/cookies.ts'
import { newSecret, sha256 } from '../session/handle.ts'
import { fewerSignIns } from './sign-in-cookies.ts'
import { LEEWAY, type Provider } from '../provider/provider.ts'
import { openState, sealState } from './sealed-state.ts'

/** ms */
export const STATE_LIFETIME = 600_000
/** Seconds. The cookie outlives the state: a callback that is late leads back to the page where the user was going. */
const COOKIE_LIFETIME = 3_600
/** ms that a used id is kept: until no instance takes its state any more. */
const USED_FOR = STATE_LIFETIME + LEEWAY * 1000

export interface Begun {
  readonly state: string
  readonly nonce: string
  /** PKCE (RFC 7636, section 4.1): 256 bits. */
  readonly verifier: string
  /** Values for Set-Cookie: the sign-in's own, and removals of old ones. */
  readonly cookies: readonly string[]
}

export interface Shown {
  readonly provider: Provider
  readonly state: string
  readonly epoch: string
  readonly nonce: string
  readonly verifier: string
  readonly returnTo: string | null
  /** It was begun more than ten minutes ago. */
  readonly expired: boolean
}

const noMemory = new Refusal(
  'unavailable',
  'Signing in is not possible at the moment. Try again in a little while.',
)

/** A Refusal when the memory of used sign-ins can't be asked: the sign-in could not be finished. */
export async function beginState(
  context: Context,
  { tenant }: Provider,
  returnTo: string | null,
  cookieLines: readonly string[],
): Promise<Begun | Refusal> {
  const epoch = await context.ephemeral
    .epoch()
    .catch((cause: unknown) => forgetful(context, tenant.id, cause))
  const [secret] = tenant.token.secrets
  if (epoch instanceof Refusal) return epoch
  if (secret === undefined) throw new Error('no secret to seal with')
  const state = newSecret()
  const begunAt = Math.floor(context.now() / 1000)
  const bound = boundTo({ tenant }, state, begunAt)
  const { sealed, nonce, verifier } = sealState(`${epoch}${returnTo ?? ''}`, secret, state, bound)
  const own = setCookie(
    signInCookie(state),
    `${tenant.id}.${begunAt.toString(36)}.${sealed}`,
    COOKIE_LIFETIME,
  )
  return {
    state,
    nonce,
    verifier,
    cookies: [own, ...fewerSignIns(cookieLines, own.length, context.cookieBytes)],
  }
}

/** Tenant, time, sealed. */
const VALUE = /^([a-z0-9-]{1,63})\.([0-9a-z]{1,9})\.([A-Za-z0-9_-]{22,4000})$/
const STATE = /^[A-Za-z0-9_-]{43}$/
/** Characters of an epoch; see `Ephemeral`. */
const EPOCH_LENGTH = 8

/** Null when this browser shows no such sign-in, or the tenant's configuration is another one since. Asks no memory. */
export function shownState(context: Context, state: string, cookieLines: readonly string[]): Shown | null {
  if (!STATE.test(state)) return null
  const [value, ...others] = cookieValues(cookieLines, signInCookie(state))
  const [, tenant = '', time = '', sealed = ''] = VALUE.exec(value ?? '') ?? []
  const provider = context.providers.get(tenant)
  const begunAt = Number.parseInt(time, 36)
  if (provider === undefined || others.length > 0 || begunAt.toString(36) !== time) return null
  const age = context.now() - begunAt * 1000
  const bound = boundTo(provider, state, begunAt)
  const opened = openState(sealed, provider.tenant.token.secrets, state, bound)
  // Begun in the future by more than clocks may differ.
  if (opened === null || age < -LEEWAY * 1000) return null
  const { text, nonce, verifier } = opened
  const [epoch, path] = [text.slice(0, EPOCH_LENGTH), text.slice(EPOCH_LENGTH)]
  const expired = !(age < STATE_LIFETIME)
  return { provider, state, epoch, nonce, verifier, returnTo: path === '' ? null : path, expired }
}

/** Whether this is the first use, of all instances; right before the code is redeemed. A Refusal: it can't be known. */
export async function useState(
  context: Context,
  { provider, state, epoch }: Shown,
): Promise<boolean | Refusal> {
  const { id } = provider.tenant
  const hash = Buffer.from(sha256(state).subarray(0, 16)).toString('base64url')
  try {
    return await context.ephemeral.use(id, epoch, hash, USED_FOR)
  } catch (cause) {
    return forgetful(context, id, cause)
  }
}

/** Removes the cookie once its sign-in is over. */
export function forgetBrowser(state: string): string {
  return setCookie(signInCookie(state), '', 0)
}

/** The seal opens only for the same provider, as the configuration has it, and the same time. */
function boundTo(
  { tenant: { id, oidc } }: Pick<Provider, 'tenant'>,
  state: string,
  begunAt: number,
): unknown[] {
  return [id, oidc.issuer, oidc.clientId, oidc.redirectUri, state, begunAt]
}

function forgetful({ log }: Context, tenant: string, cause: unknown): Refusal {
  const reason = cleaned(cause instanceof Error ? cause.message : 'unknown')
  log.warn({ event: 'sign_in_failed', tenant, reason }, 'used sign-ins can not be looked up or noted')
  return noMemory
}
