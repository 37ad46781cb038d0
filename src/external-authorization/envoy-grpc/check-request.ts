/**
 * The messages of Envoy's external authorization, as far as a decision needs them:
 * `envoy.service.auth.v3.CheckRequest` (external_auth.proto, attribute_context.proto) with
 * `envoy.config.core.v3.Address` and `HeaderMap`.
 *
 * Texts are read as latin1, like the bytes of HTTP: older versions of Envoy pass on bytes that are no UTF-8
 * (CVE-2023-27488).
 */

import { isIP } from 'node:net'
import { MalformedMessage, ProtobufReader } from '../../lib/protobuf/protobuf-reader.ts'
import { writtenAddress } from '../../proxy/forwarded.ts'

export interface CheckRequest {
  /** The request; null if the question is about a TCP connection. */
  readonly http: HttpAttributes | null
  /**
   * The IP address of Envoy's peer, as IPv4 if it is IPv4-mapped; null if there is none, or no IP address.
   */
  readonly source: string | null
}

export interface HttpAttributes {
  readonly method: string
  /** The target: path and query. */
  readonly path: string
  /** The value of Host or `:authority`; '' without one. */
  readonly host: string
  /** The version, such as `HTTP/1.1` and `HTTP/2`; '' if it is unknown. */
  readonly protocol: string
  /** The fields with the pseudo-header fields: name, value, … */
  readonly headers: readonly string[]
  /** Whether the lines are those of the client. Otherwise Envoy has merged lines of one name with commas. */
  readonly isRaw: boolean
}

type Read = (reader: ProtobufReader) => void
/** Readers by the number of the field. */
type Fields = Readonly<Record<number, Read>>

/** Throws `MalformedMessage`. */
export function readCheckRequest(bytes: Uint8Array): CheckRequest {
  let http: HttpAttributes | null = null
  let source: string | null = null
  const peer: Fields = { 1: once((address) => (source = addressOf(address))) }
  const request: Fields = { 2: once((attributes) => (http = httpOf(attributes))) }
  const attributes: Fields = {
    1: once((within) => readFields(within.message(), peer)),
    4: once((within) => readFields(within.message(), request)),
  }
  readFields(new ProtobufReader(bytes), {
    1: once((within) => readFields(within.message(), attributes)),
  })
  return { http, source }
}

/** Ignores unknown fields. */
function readFields(reader: ProtobufReader, fields: Fields): void {
  while (reader.next()) fields[reader.field]?.(reader)
}

/**
 * A reader of a field that may occur once. If it occurs twice, other programs may read the first, the last,
 * or both as one.
 */
function once(read: Read): Read {
  let isRead = false
  return (reader) => {
    if (isRead) throw new MalformedMessage('a field comes twice')
    isRead = true
    read(reader)
  }
}

function text(reader: ProtobufReader): string {
  return reader.bytes().toString('latin1')
}

function addressOf(reader: ProtobufReader): string | null {
  let address = ''
  const socketAddress: Fields = { 2: once((within) => (address = text(within))) }
  readFields(reader.message(), { 1: once((within) => readFields(within.message(), socketAddress)) })
  return isIP(address) === 0 ? null : writtenAddress(address)
}

function httpOf(reader: ProtobufReader): HttpAttributes {
  const http = { method: '', path: '', host: '', protocol: '' }
  const merged = new Map<string, string>()
  let raw: string[] | null = null
  readFields(reader.message(), {
    2: once((within) => (http.method = text(within))),
    3: (within) => addEntry(merged, within.message()),
    4: once((within) => (http.path = text(within))),
    5: once((within) => (http.host = text(within))),
    7: refuseText('query'),
    8: refuseText('fragment'),
    10: once((within) => (http.protocol = text(within))),
    13: once((within) => (raw = headerMapOf(within.message()))),
  })
  return { ...http, headers: raw ?? [...merged].flat(), isRaw: raw !== null }
}

/** A reader of a field that is always empty: the path has the query (attribute_context.proto). */
function refuseText(name: string): Read {
  return (reader) => {
    if (reader.bytes().length > 0) throw new MalformedMessage(`a ${name} beside the path`)
  }
}

/** An entry of `headers`: a map, which has a key once. */
function addEntry(merged: Map<string, string>, entry: ProtobufReader): void {
  let key = ''
  let value = ''
  readFields(entry, {
    1: once((within) => (key = text(within))),
    2: once((within) => (value = text(within))),
  })
  if (merged.has(key)) throw new MalformedMessage('a key of a map comes twice')
  merged.set(key, value)
}

function headerMapOf(reader: ProtobufReader): string[] {
  const lines: string[] = []
  readFields(reader, { 1: (within) => lines.push(...headerOf(within.message())) })
  return lines
}

/** A `HeaderValue` has its value as text or as bytes. */
function headerOf(reader: ProtobufReader): [string, string] {
  let key = ''
  let value = ''
  let rawValue = ''
  readFields(reader, {
    1: once((within) => (key = text(within))),
    2: once((within) => (value = text(within))),
    3: once((within) => (rawValue = text(within))),
  })
  if (value !== '' && rawValue !== '') throw new MalformedMessage('a header with two values')
  return [key, value + rawValue]
}
