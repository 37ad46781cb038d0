/**
 * Events of an identity provider by push (Shared Signals Framework 1.0, RFC 8935). Public: the token of the
 * transmitter is the proof, and a configured `Authorization` another one.
 *
 * Anyone can send a request, so everything that needs no key is checked before the signature.
 */

import { SHARED_SIGNALS } from '../../config/oidc-settings.ts'
import { areSameBytes } from '../../lib/same-bytes.ts'
import { Refusal } from '../../model/errors.ts'
import type { PublicRequest } from '../../model/route.ts'
import { type Context, withFields } from '../context.ts'
import type { Reply } from '../ports.ts'
import { sanitizeName } from '../provider/log-text.ts'
import { headerLines } from '../sign-in/browser.ts'
import { sha256 } from '../session/session-credentials.ts'
import type { AnswersOf } from '../sign-in-endpoints.ts'
import { checkSignature } from '../tokens/compact-jws.ts'
import { outage } from './provider-revocation.ts'
import { MAX_SET, readSecurityEvent, type SecurityEvent, SetFault } from './security-event.ts'
import { applyEvent } from './event-actions.ts'
import type { TenantSignals } from './tenant-signals.ts'

const TYPE = /^application\/secevent\+jwt[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i

/** The same for an unknown tenant, so that it does not reveal which tenants exist. */
const unauthenticated = new SetFault(
  'authentication_failed',
  'The Authorization header is not that of the transmitter of this address.',
)
const otherBody = new SetFault(
  'invalid_request',
  `The body must be application/secevent+jwt, of at most ${MAX_SET / 1024} KiB.`,
)

/** Answers 202 once the change that the event reports is closed. Rejects if the store is unavailable. */
export async function sharedSignals(context: Context, request: PublicRequest): Promise<Reply> {
  const id = request.path.slice(SHARED_SIGNALS.length + 1)
  const own = { ...context, log: withFields(context.log, { tenant: sanitizeName(id) }) }
  const signals = own.signalsOf.get(id)
  const fault = await receive(own, request, signals)
  if (fault === null) return { status: 202, headers: [] }
  const reason =
    signals?.events == null
      ? 'no such tenant, or oidc.events is not configured'
      : fault instanceof SetFault
        ? fault.description
        : fault.detail
  const code = fault instanceof SetFault ? fault.err : fault.code
  own.log.warn({ event: 'shared_signal_refused', code, reason }, 'an event of a provider was refused')
  if (fault instanceof Refusal) return fault
  const body: AnswersOf['sharedSignals'] = { err: fault.err, description: fault.description }
  return { status: 400, headers: ['Content-Language', 'en'], body }
}

async function receive(
  context: Context,
  request: PublicRequest,
  signals: TenantSignals | undefined,
): Promise<SetFault | Refusal | null> {
  if (signals === undefined || signals.events === null) return unauthenticated
  const { events, turns, tenant } = signals
  if (!isAuthorized(request, events.config.authorization)) return unauthenticated
  const text = tokenIn(request)
  if (text === null) return otherBody
  const { issuer, signer } = events
  const event = readSecurityEvent(text, { issuer, audience: events.config.audience }, context.now())
  if (event instanceof SetFault) return event
  const forged = await verify(event)
  if (forged !== null) return forged
  return applyEvent(context, { tenant, issuer }, event)

  async function verify({ jws }: SecurityEvent): Promise<SetFault | Refusal | null> {
    const refusal = await turns.run(() => checkSignature(jws, signer, 'request')).catch(outage(context))
    return refusal === null || refusal.status >= 500 ? refusal : new SetFault('invalid_key', refusal.detail)
  }
}

/** By digests, so that the time of the comparison tells nothing of the value. */
function isAuthorized({ rawHeaders }: PublicRequest, authorization: string | null): boolean {
  if (authorization === null) return true
  const [line, ...others] = headerLines(rawHeaders, 'authorization')
  return line !== undefined && others.length === 0 && areSameBytes(sha256(line), sha256(authorization))
}

function tokenIn({ rawHeaders, body }: PublicRequest): string | null {
  const isOther = !TYPE.test(headerLines(rawHeaders, 'content-type').join(', '))
  const isCoded = headerLines(rawHeaders, 'content-encoding').some((each) => !/^identity$/i.test(each))
  if (body === null || body.length > MAX_SET || isOther || isCoded) return null
  return Buffer.from(body).toString('latin1')
}
