/** The field list of a request over HTTP/2. */

import { TOKEN } from '../wire/fields.ts'
import { NotForwardable, type UpstreamRequest } from './upstream-request.ts'

const METHOD = new RegExp(`^${TOKEN}+$`)
/** The paths that a request line of HTTP/1.1 may have. */
const PATH = /^\/(?:[!-~]*|[!->@-~]*\?[!-~\x80-\xff]*)$/
/** Host and port: no user information (RFC 9113, section 8.3.1), and nothing of the path of another URI. */
const AUTHORITY = /^[^\0- "#/<>?@\\^`{|}\x7f-\uffff]+$/

/**
 * The field list of a request (RFC 9113, section 8.3.1): what was decided, in the order of HTTP/1.1.
 * Throws a NotForwardable if a part of the request can not be written.
 *
 * @param authority the host and port of the target
 * @returns name, value, … of pseudo-header fields; and all other fields, as lines of HTTP/1.1
 */
export function requestFields(
  { method, path, headers, host, body, length, grpc }: UpstreamRequest,
  scheme: 'http' | 'https',
  authority: string,
): { pseudo: readonly string[]; lines: string } {
  const pseudo = [':method', method, ':scheme', scheme, ':authority', host ?? authority, ':path', path]
  // CONNECT has a form of its own, and is not forwarded.
  let writable = METHOD.test(method) && method !== 'CONNECT' && PATH.test(path)
  writable &&= AUTHORITY.test(host ?? authority)
  for (const lines of headers) writable &&= lines.writable
  if (!writable) throw new NotForwardable('the request contains bytes that cannot be written')
  let text = ''
  for (const lines of headers) text += lines.text
  if (length !== null && length !== Infinity) text += `content-length: ${body === null ? 0 : length}\r\n`
  // gRPC services may refuse calls without it.
  if (grpc === true) text += 'te: trailers\r\n'
  return { pseudo, lines: text }
}
