/**
 * Looks at a request before anything else does: what two HTTP parsers could read differently is refused, not repaired.
 * Node's parser has refused the grossest already (two lengths, length with chunks, bare CR in names); these are the
 * rest, counted on the raw header lines. Called by the pipeline.
 */

import { type IncomingMessage, METHODS } from 'node:http'
import { Refusal } from '../errors.ts'

export interface GuardLimits {
  /** Of a header section. */
  readonly headerFields: number
}

const malformed = (detail: string) => new Refusal('request_malformed', detail)
const tooManyFields = (most: number) =>
  new Refusal('headers_too_large', `The request has more than ${most} header fields.`)

const version = malformed('The HTTP version is not 1.0 or 1.1.')
const badMethod = malformed('The method is not one of HTTP.')
const noHost = malformed('The request has no Host.')
const manyHosts = malformed('The request has more than one Host.')
const badHost = malformed('The Host is not a host name or address with an optional port.')
const badTransfer = malformed('The Transfer-Encoding is not "chunked".')
const twoFramings = malformed(
  'The request has a Content-Length and a Transfer-Encoding, or one of them twice.',
)
const oldChunks = malformed('HTTP/1.0 has no Transfer-Encoding.')
const expectation = malformed('The Expect header asks for something other than 100-continue.')

/** `reg-name`, IPv4 or `[IPv6]`, and a port (RFC 9110, section 7.2; RFC 3986, section 3.2.2). */
const HOST = /^(?:(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/

/** Node's parser knows RTSP's too, and takes them as if they were HTTP's. */
const KNOWN = new Set(METHODS)

/** null when the request may go on. */
export function guard(request: IncomingMessage, { headerFields }: GuardLimits): Refusal | null {
  if (request.httpVersionMajor !== 1) return version
  if (!KNOWN.has(request.method ?? '')) return badMethod
  const { rawHeaders } = request
  if (rawHeaders.length > headerFields * 2) return tooManyFields(headerFields)
  let hosts = 0
  let lengths = 0
  let encodings = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    // Only these lengths can be a name looked for; most fields are passed over without a copy.
    if (name.length === 4) hosts += is(name, 'host')
    else if (name.length === 14) lengths += is(name, 'content-length')
    else if (name.length === 17) encodings += is(name, 'transfer-encoding')
  }
  if (hosts > 1) return manyHosts
  return framing(request, lengths, encodings) ?? host(request, hosts)
}

function is(name: string, wanted: string): number {
  return name.toLowerCase() === wanted ? 1 : 0
}

function framing(request: IncomingMessage, lengths: number, encodings: number): Refusal | null {
  if (lengths + encodings > 1) return twoFramings
  if (encodings === 1) {
    if (request.httpVersionMinor === 0) return oldChunks
    if (request.headers['transfer-encoding']?.toLowerCase() !== 'chunked') return badTransfer
  }
  const expect = request.headers.expect
  return expect === undefined || expect.toLowerCase() === '100-continue' ? null : expectation
}

/** HTTP/1.0 clients may have none (RFC 9112, section 3.2). */
function host(request: IncomingMessage, count: number): Refusal | null {
  if (count === 0) return request.httpVersionMinor === 0 ? null : noHost
  return HOST.test(request.headers.host ?? '') ? null : badHost
}
