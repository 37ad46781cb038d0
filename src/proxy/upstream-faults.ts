/** What a failure of the upstream is called towards the client, and what it says about the target. */

import { Refusal } from '../model/errors.ts'
import {
  BodyTimeout,
  ClientClosed,
  ConnectionLost,
  Evicted,
  NotForwardable,
  SlowClient,
} from '../http/client/upstream-request.ts'
import { bodyTooSlow } from './request-body.ts'
import type { Blame } from './upstream-events.ts'

/** No connection could be had: refused, unknown name, TLS, too slow to connect, or the gateway is closing it down. */
export const unreachable: Refusal = new Refusal('upstream_unreachable', 'The upstream could not be reached.')

/** A connection was had, and then: closed without an answer, no HTTP, two lengths, a switch nobody asked for … */
export const protocolError: Refusal = new Refusal(
  'upstream_protocol_error',
  'The upstream did not send a valid response.',
)

export const timedOut: Refusal = new Refusal('upstream_timeout', 'The upstream did not respond in time.')

const notForwardable = new Refusal(
  'request_malformed',
  'The request contains bytes that can not be forwarded.',
)

/** No target takes part. */
export const unavailable: Refusal = new Refusal(
  'unavailable',
  'The upstream can not be reached at the moment. Nothing was sent to it: the request may be repeated.',
)

/** Every target that takes part has as many requests as it may have. */
export const busy: Refusal = new Refusal(
  'unavailable',
  'The upstream has too many requests waiting. Nothing was sent to it: the request may be repeated.',
)

/** Others wait for the place that it waits for, or holds. */
const evictedWaiting = new Refusal(
  'unavailable',
  'The upstream has too many requests waiting, most of them of this caller. Nothing was sent to it: the request may be repeated.',
)
const evicted = new Refusal(
  'unavailable',
  'Requests of other callers wait for the upstream, and this caller holds the most slots: its slowest request was ended.',
)

/** The gateway lets go of a request: because of the client, or its own limits. */
export const abandoned: Error = new Error('abandoned by the gateway')

/** @param connected a connection was had and the request was begun on it */
export function refusalOf(error: Error, connected: boolean): Refusal {
  if (error instanceof NotForwardable) return notForwardable
  if (error instanceof SlowClient) return bodyTooSlow
  if (error instanceof Evicted) return connected ? evicted : evictedWaiting
  if (error instanceof BodyTimeout) return timedOut
  return connected ? protocolError : unreachable
}

/**
 * null: it says nothing about the target.
 *
 * @param heard an answer, or something like one, had begun
 */
export function blameOf(error: Error, connected: boolean, heard: boolean): Blame | null {
  if (error === abandoned || isOurs(error)) return null
  if (!connected) return 'unreachable'
  return !heard && error instanceof ConnectionLost ? 'reset' : null
}

const OURS = [NotForwardable, SlowClient, Evicted, ClientClosed]

/** Of the client's making, or the gateway's. */
function isOurs(error: Error): boolean {
  return OURS.some((kind) => error instanceof kind)
}
