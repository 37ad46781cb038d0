/** What a failure of the upstream is called towards the client. Used by `forward.ts`. */

import { errors } from 'undici'
import { Refusal } from '../errors.ts'

/** No connection could be had: refused, unknown name, TLS, too slow to connect, or the gateway is closing it down. */
export const unreachable: Refusal = new Refusal('upstream_unreachable', 'The upstream could not be reached.')

/** A connection was had, and then: closed without an answer, no HTTP, two lengths, a switch nobody asked for … */
export const protocolError: Refusal = new Refusal(
  'upstream_protocol_error',
  'The upstream did not give a valid answer.',
)

export const timedOut: Refusal = new Refusal('upstream_timeout', 'The upstream did not answer in time.')

/** undici found something in the request that it can't write. Only bytes of the client's can do that. */
const notForwardable = new Refusal('request_malformed', 'The request can not be forwarded as it is.')

/** @param connected a connection was had and the request was begun on it */
export function refusalOf(error: Error, connected: boolean): Refusal {
  if (error instanceof errors.InvalidArgumentError || error instanceof errors.NotSupportedError)
    return notForwardable
  return connected ? protocolError : unreachable
}
