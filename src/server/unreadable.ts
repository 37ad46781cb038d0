/** What is said to connections that bring no request: none that could be read, or that there is room for. Used by `front.ts`. */

import type { Limits } from '../config/config.ts'
import { Refusal } from '../errors.ts'

export const full = new Refusal(
  'unavailable',
  'The gateway has as many connections as it takes. Nothing was read.',
)
export const noTunnel = new Refusal('request_malformed', 'CONNECT: this is no tunnel.')
const tooSlow = new Refusal('request_timeout', 'The header section did not arrive in time.')
const badTarget = new Refusal('path_ambiguous', 'The request target is not a path of visible ASCII.')
const unparsable = new Refusal('request_malformed', 'The request is not valid HTTP/1.1.')
const tooLarge = (most: number) =>
  new Refusal('headers_too_large', `The header section is larger than ${most} bytes.`)

/** Of what Node's parser gave up on. */
export function refusalOf(error: Error & { code?: string }, { headerBytes }: Limits): Refusal {
  if (error.code === 'HPE_HEADER_OVERFLOW') return tooLarge(headerBytes)
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') return tooSlow
  if (error.code === 'HPE_INVALID_URL') return badTarget
  return unparsable
}
