/**
 * Validates requests before any other stage. A well-formed request that upstreams could read in two ways is
 * refused, not repaired.
 */

import { Refusal } from '../../model/errors.ts'
import { MalformedRequest } from '../wire/malformed-request.ts'
import { requestGrammar } from '../wire/request-parser.ts'
import type { ClientRequest } from './client-request.ts'
import { malformedRefusal } from './connection-refusal.ts'

export interface ValidationLimits {
  /** The number of fields of a header section. */
  readonly headerFields: number
  /** The permitted methods. */
  readonly methods: ReadonlySet<string>
}

const malformed = (detail: string) => new Refusal('request_malformed', detail)
const tooManyFields = (limit: number) =>
  new Refusal('headers_too_large', `The request has more than ${limit} header fields.`)

const badMethod = malformed('The method is neither a registered one nor one of the configured methods.')
const noHost = malformed('The request has no Host field.')
const manyHosts = malformed('The request has more than one Host field.')
const badHost = malformed('The Host is not a host name or address with an optional port.')
const expectation = malformed('The Expect header asks for something other than 100-continue.')

/** `reg-name`, IPv4 or `[IPv6]`, and a port (RFC 9110, section 7.2; RFC 3986, section 3.2.2). */
const HOST = /^(?:(?:[A-Za-z0-9._~!$&'()*+;=-]|%[0-9A-Fa-f]{2})+|\[[0-9A-Fa-f:.]+\])(?::[0-9]{1,5})?$/

/** The fault of the method; null if it is permitted. */
function validateMethod(method: string, { methods }: Pick<ValidationLimits, 'methods'>): Refusal | null {
  return methods.has(method) ? null : badMethod
}

/** The fault of the request; null if it is valid. */
export function validateRequest(request: ClientRequest, limits: ValidationLimits): Refusal | null {
  const { headerFields } = limits
  const method = validateMethod(request.method, limits)
  if (method !== null) return method
  if (request.section.fields.count > headerFields) return tooManyFields(headerFields)
  if (request.hosts > 1) return manyHosts
  if (request.expect !== null && request.expect.toLowerCase() !== '100-continue') return expectation
  // HTTP/1.0 requests may omit Host (RFC 9112, section 3.2).
  if (request.host === null && request.minor === 1) return noHost
  return validateHost(request.host)
}

/** The fault of the host; null if it is a host with an optional port, or absent. */
function validateHost(host: string | null): Refusal | null {
  return host === null || HOST.test(host) ? null : badHost
}

/** A request that no client sends, for questions about requests. */
export interface RequestLine {
  readonly method: string
  /** The target as on the wire, one character a byte. */
  readonly target: string
  /** The host; null if the request names none. */
  readonly host: string | null
}

/**
 * Checks the request line and the host as the listener does, without a connection.
 *
 * @returns null if they are accepted
 */
export function refusalOfRequestLine(
  { method, target, host }: RequestLine,
  { headerBytes, methods }: Pick<ValidationLimits, 'methods'> & { readonly headerBytes: number },
): Refusal | null {
  const head = `${method} ${target} HTTP/1.1\r\nHost: gateway\r\n`
  const grammar = requestGrammar(headerBytes)
  try {
    if (head.length > headerBytes) throw grammar.tooLong('head', head)
    const fault = grammar.checkPrefix(head, 0)
    if (fault !== null) throw fault
    const bytes = Buffer.from(head, 'latin1')
    const source = { text: head, bytes, offset: 0, start: 0, end: head.length }
    return validateMethod(grammar.readHead(source, false).method, { methods }) ?? validateHost(host)
  } catch (fault) {
    if (fault instanceof MalformedRequest) return malformedRefusal(fault)
    throw fault
  }
}
