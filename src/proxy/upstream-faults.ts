/** Maps failures of an upstream to refusals, and to what they say about the target. */

import { Refusal } from '../model/errors.ts'
import {
  BodyTimeout,
  ClientClosed,
  ConnectionLost,
  Evicted,
  NoHttp2,
  NotForwardable,
  SlowClient,
  Unprocessed,
} from '../http/client/upstream-request.ts'
import { SectionTooLarge } from '../http/wire/http2/http2-errors.ts'
import { bodyTooSlow } from './request-body.ts'
import type { Blame } from './upstream-events.ts'

/** No connection: refused, unknown name, TLS fault, timeout, or shutdown of the gateway. */
export const unreachable: Refusal = new Refusal('upstream_unreachable', 'The upstream could not be reached.')

/** After connecting: closed without a response, malformed HTTP, two lengths, an unrequested upgrade … */
export const protocolError: Refusal = new Refusal(
  'upstream_protocol_error',
  'The upstream did not send a valid response.',
)

export const timedOut: Refusal = new Refusal('upstream_timeout', 'The upstream did not respond in time.')

const notForwardable = new Refusal(
  'request_malformed',
  'The request contains bytes that cannot be forwarded.',
)

const sectionTooLarge = new Refusal(
  'headers_too_large',
  'The header section is larger than the upstream accepts. Nothing was sent to it.',
)

/** No target is available. */
export const unavailable: Refusal = new Refusal(
  'unavailable',
  'The upstream cannot be reached at the moment. Nothing was sent to it: the request may be repeated.',
)

/** Every available target has its maximum of requests. */
export const busy: Refusal = new Refusal(
  'unavailable',
  'The upstream has too many requests waiting. Nothing was sent to it: the request may be repeated.',
)

/** An HTTP/2 target refused the stream, and the request can not be sent again. */
const unprocessed = new Refusal(
  'unavailable',
  'The upstream has not processed the request: it may be repeated.',
)

/** Evicted while it waited for a slot. */
const evictedWaiting = new Refusal(
  'unavailable',
  'The upstream has too many requests waiting, most of them of this caller. Nothing was sent to it: the request may be repeated.',
)
/** Evicted while it held a slot. */
export const evicted: Refusal = new Refusal(
  'unavailable',
  'Requests of other callers wait for the upstream, and this caller holds the most slots: its slowest request was ended. Whether it took effect is unknown.',
)

/** The gateway abandons a request because of the client or of its own limits. */
export const abandoned: Error = new Error('abandoned by the gateway')

/** @param connected the request had a connection */
export function upstreamRefusal(error: Error, connected: boolean): Refusal {
  if (error instanceof NotForwardable) return notForwardable
  if (error instanceof SectionTooLarge) return sectionTooLarge
  if (error instanceof SlowClient) return bodyTooSlow
  if (error instanceof Evicted) return connected ? evicted : evictedWaiting
  if (error instanceof BodyTimeout) return timedOut
  if (error instanceof Unprocessed) return unprocessed
  if (error instanceof NoHttp2) return protocolError
  return connected ? protocolError : unreachable
}

/**
 * null if the error says nothing about the target.
 *
 * @param responseStarted bytes of a response had arrived
 */
export function blameOf(error: Error, connected: boolean, responseStarted: boolean): Blame | null {
  if (error === abandoned || NOT_UPSTREAM_FAULTS.some((kind) => error instanceof kind)) return null
  if (!connected) return 'unreachable'
  return !responseStarted && error instanceof ConnectionLost ? 'reset' : null
}

/** The client or the gateway causes these. */
const NOT_UPSTREAM_FAULTS = [NotForwardable, SectionTooLarge, SlowClient, Evicted, ClientClosed, Unprocessed]

/** A short name for spans: a code such as `ECONNREFUSED`, or the kind of error. There are few of them. */
export function faultName(error: Error): string {
  const code = 'code' in error ? error.code : null
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]{1,63}$/.test(code) ? code : error.constructor.name
}
