/** The shared state of sign-in, created once for each configuration, and what its lines of the log say. */

import { Refusal } from '../model/errors.ts'
import type { OidcLog, OidcPorts } from './ports.ts'
import type { Provider } from './provider/provider.ts'
import type { TenantSignals } from './signals/tenant-signals.ts'
import { ProviderError, ProviderRefused, providerUnavailable } from './provider/provider-errors.ts'

export interface Context extends OidcPorts {
  /** The providers by tenant. */
  readonly providers: ReadonlyMap<string, Provider>
  /** What signals are verified with, by tenant; of tenants with any. */
  readonly signalsOf: ReadonlyMap<string, TenantSignals>
  /** Ids of tenants that share their redirect_uri with a tenant of another issuer; see `refuseMixUp`. */
  readonly sharedRedirect: ReadonlySet<string>
  /** Characters that the cookies of pending sign-ins may have in one browser. */
  readonly cookieBytes: number
  /** The prefix of the paths of the endpoints, in requests and in redirect URIs; '': none. */
  readonly prefix: string
  /** The id of the request that is served; null: no request is. Lines of `log` have it already. */
  readonly requestId: string | null
}

/** The subject of lines of the log. */
interface LogSubject {
  /** `sub`, from a token that was verified, or from the record of a session. */
  readonly user: string
  /** Its id; left out: there is none, or none yet. */
  readonly session?: string
}

/** A log whose lines have these fields too. */
export function withFields(log: OidcLog, more: Readonly<Record<string, unknown>>): OidcLog {
  const write =
    (level: keyof OidcLog): OidcLog['info'] =>
    (fields, message) =>
      log[level]({ ...more, ...fields }, message)
  return { info: write('info'), warn: write('warn'), error: write('error') }
}

/**
 * The log for a request: each line has the request's id.
 *
 * @param requestId null: no request caused the work
 */
export function ofRequest(log: OidcLog, requestId: string | null): OidcLog {
  return requestId === null ? log : withFields(log, { request_id: requestId })
}

/** The context of work on one user or session, which each line of its log names. */
export function about(context: Context, { user, session }: LogSubject): Context {
  const fields = session === undefined ? { user } : { user, session }
  return { ...context, log: withFields(context.log, fields) }
}

const rejected = new Refusal(
  'token_invalid',
  'The identity provider refused the code or token of this sign-in.',
)

/** Turns a provider's errors into a line of the log and a Refusal that contains nothing of the error. */
export async function withProviderErrors<T>(
  context: Context,
  provider: Provider,
  work: () => Promise<T>,
): Promise<T | Refusal> {
  try {
    return await work()
  } catch (cause) {
    const refusal = providerRefusal(context, provider, cause)
    const user = cause instanceof ProviderError || cause instanceof ProviderRefused ? cause.user : null
    return user === null ? refusal : refusal.of({ tenant: provider.tenant.id, user })
  }
}

/** @throws any other error unchanged */
export function providerRefusal({ log }: Context, { tenant }: Provider, cause: unknown): Refusal {
  if (!(cause instanceof ProviderError || cause instanceof ProviderRefused)) throw cause
  const { user, message: reason } = cause
  const fields = { event: 'sign_in_failed', tenant: tenant.id, reason, ...(user === null ? {} : { user }) }
  if (cause instanceof ProviderError) {
    log.warn(fields, 'request to the identity provider failed')
    return providerUnavailable
  }
  log.info(fields, 'the identity provider refused the request')
  return rejected
}

/** Logs the refusal of a provider's token. The detail contains only the gateway's own text. */
export function logRefusal(log: Context['log'], tenant: string, refusal: Refusal): Refusal {
  const user = refusal.caller?.user ?? null
  log.warn(
    { event: 'sign_in_failed', tenant, reason: refusal.detail, ...(user === null ? {} : { user }) },
    'a token of the identity provider was refused',
  )
  return refusal
}
