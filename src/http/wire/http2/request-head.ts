/** The head of an HTTP/2 request, as the parser of HTTP/1.1 gives it, and within the same limit. */

import { malformed, MalformedRequest } from '../malformed-request.ts'
import { CHUNKED } from '../message-parser.ts'
import type { RequestHead } from '../request-parser.ts'
import type { RequestFieldList } from './request-list.ts'

/** Two spaces, the version and the end of a line in HTTP/1.1. */
const VERSION_BYTES = 12
/** The end of a header section. */
const END_BYTES = 2

/**
 * Throws a MalformedRequest where the head is too long, or a body is announced and none follows.
 *
 * @param endStream no body follows @param maxBytes the limit of the same head in HTTP/1.1
 */
export function requestHead(list: RequestFieldList, endStream: boolean, maxBytes: number): RequestHead {
  const { method, target, section } = list
  const lineBytes = method.length + target.length + VERSION_BYTES
  if (lineBytes > maxBytes) throw largeTarget(maxBytes)
  if (lineBytes + section.fields.bytes + END_BYTES > maxBytes) throw largeHead(maxBytes)
  if (endStream && (list.length ?? 0) > 0) throw malformed('The request has a Content-Length, and no body.')
  const length = endStream ? 0 : (list.length ?? CHUNKED)
  return { method, target, minor: 1, section, length, keepAlive: true, http2: true }
}

/** The fault of a head over the limits. @param fields those before the limit: name, value, … */
export function cutHead(fields: readonly string[], maxBytes: number): MalformedRequest {
  return fields.some((name, i) => i % 2 === 0 && name === ':path')
    ? largeHead(maxBytes)
    : largeTarget(maxBytes)
}

function largeTarget(maxBytes: number): MalformedRequest {
  return new MalformedRequest('large-target', `The request line is longer than ${maxBytes} bytes.`)
}

function largeHead(maxBytes: number): MalformedRequest {
  return new MalformedRequest(
    'large-head',
    `The header section is larger than ${maxBytes} bytes, or has too many fields.`,
  )
}
