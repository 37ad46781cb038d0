/** The request that Envoy asks about, by the rules for requests on the wire. */

import { isUtf8 } from 'node:buffer'
import type { Socket } from 'node:net'
import { ClientRequest } from '../../http/server/client-request.ts'
import { malformedRefusal } from '../../http/server/connection-refusal.ts'
import { FieldTable } from '../../http/wire/field-table.ts'
import { sectionOf } from '../../http/wire/header-section.ts'
import { MalformedRequest } from '../../http/wire/malformed-request.ts'
import { checkedMethod, checkTarget, type RequestHead } from '../../http/wire/request-parser.ts'
import { Refusal } from '../../model/errors.ts'
import { noFlow } from '../original-request.ts'
import type { HttpAttributes } from './check-request.ts'

/** @param socket the socket of the question */
export function originalOfCheck(http: HttpAttributes | null, socket: Socket): ClientRequest | Refusal {
  if (http === null) return notHttp
  try {
    return new RequestOfCheck(headOf(http), noFlow(socket))
  } catch (fault) {
    if (!(fault instanceof MalformedRequest)) throw fault
    return malformedRefusal(fault)
  }
}

const notHttp = new Refusal('request_malformed', 'The question is not about a request of HTTP.')

/** No redirect may follow the hosts that a client writes. */
const HOSTS = new Set(['x-forwarded-host', 'forwarded'])

class RequestOfCheck extends ClientRequest {
  #pairs: readonly string[] | null = null

  override get rawHeaders(): readonly string[] {
    this.#pairs ??= withoutHosts(this.section.fields.pairs)
    return this.#pairs
  }
}

function withoutHosts(pairs: readonly string[]): string[] {
  return pairs.filter((_, i) => !HOSTS.has(pairs[i - (i % 2)]?.toLowerCase() ?? ''))
}

/** Throws a MalformedRequest. */
function headOf(http: HttpAttributes): RequestHead {
  const method = checkedMethod(http.method)
  checkTarget(method, http.path)
  const { lines, hasPath } = regularFields(http)
  // Envoy writes `!` for bytes that are no UTF-8, and forwards the bytes.
  if (!hasPath && http.path.split('?', 1)[0]?.includes('!') === true) throw ambiguous('a path with "!"')
  checkSessions(lines, http.isRaw)
  const fields = FieldTable.of(http.host === '' ? lines : ['host', http.host, ...lines])
  if (fields === null) throw fault('A header field of the request is malformed.')
  const minor = http.protocol === 'HTTP/1.0' ? 0 : 1
  const http2 = /^HTTP\/[23]/.test(http.protocol)
  const section = sectionOf(fields)
  const { length } = section
  return { method, target: http.path, minor, section, length, keepAlive: true, http2 }
}

interface RegularFields {
  /** Name, value, … */
  readonly lines: string[]
  /** `:path` confirms the path to the byte. */
  readonly hasPath: boolean
}

/** Pseudo-header fields repeat what the attributes say: another value is a contradiction. */
function regularFields({ method, path, host, headers, isRaw }: HttpAttributes): RegularFields {
  const said = new Map([
    [':method', method],
    [':path', path],
    [':authority', host],
    ['host', host],
  ])
  const lines: string[] = []
  let hasPath = false
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] ?? ''
    const value = headers[i + 1] ?? ''
    const expected = said.get(name)
    if (expected !== undefined && expected !== value) throw fault(`The question has two values of ${name}.`)
    if (name === ':path') hasPath = isRaw
    else if (name.startsWith(':') ? !PSEUDO.has(name) : expected === undefined) lines.push(name, value)
  }
  return { lines, hasPath }
}

const PSEUDO = new Set([':method', ':path', ':authority', ':scheme', ':protocol'])

/**
 * If the client has a session of the gateway, the answer replaces all Cookie lines. Envoy reads no answer
 * with a value that is not UTF-8, and a call that fails may allow the request. In two lines that have become
 * one, a comma would hide the session.
 */
function checkSessions(lines: readonly string[], isRaw: boolean): void {
  const cookies = lines.filter((_, i) => i % 2 === 1 && lines[i - 1]?.toLowerCase() === 'cookie')
  if (!cookies.some((value) => SESSION.test(value))) return
  for (const value of cookies) {
    if (!isRaw && value.includes(',')) throw ambiguous('a Cookie with a comma and a session')
    if (!isUtf8(Buffer.from(value, 'latin1'))) throw fault('A Cookie beside a session is not UTF-8.')
  }
}

const SESSION = /__host-seatgate/i

function ambiguous(what: string): MalformedRequest {
  return fault(`The question has ${what}, which is ambiguous without encode_raw_headers.`)
}

function fault(message: string): MalformedRequest {
  return new MalformedRequest('malformed', message)
}
