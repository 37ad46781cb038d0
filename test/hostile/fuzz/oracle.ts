/** The most that may be made of a case, from the specification and not from the code. */

import { tolerated } from '../leniency.ts'
import { fieldOf, type ReadRequest, readRequests } from '../reading.ts'

export interface Verdict {
  /** In order; null for a request that has to be refused. */
  readonly requests: readonly (Forwarded | null)[]
  readonly heads: readonly boolean[]
  /** Expected responses of an unmutated case: those of complete requests. */
  readonly due: number
}

/** A request as the upstream may receive it. */
interface Forwarded {
  readonly key: string
  readonly whole: boolean
}

export function engine(bytes: string): Verdict {
  const { requests } = readRequests(bytes, tolerated)
  const last = requests.findIndex((request) => endsConnection(request) || isRefusedEarly(request))
  const read = last < 0 ? requests : requests.slice(0, last + 1)
  return {
    requests: read.map((request) => forwarded(request)),
    heads: read.map(({ method }) => method === 'HEAD'),
    due: read.filter(({ whole }) => whole).length,
  }
}

/** The client may then omit the body or send it, so that the start of its next request is undetermined. */
function isRefusedEarly(request: ReadRequest): boolean {
  return request.fields.some(([name]) => name.toLowerCase() === 'expect') && forwarded(request) === null
}

/** The request is identified by its mark, which passes through the gateway. */
export function keyOf({ method, fields, body }: ReadRequest, target: string): string {
  const marks = fields.filter(([name]) => name.toLowerCase() === 'x-case').map(([, value]) => value)
  return `${method} ${target} ${marks.join()} ${JSON.stringify(body)}`
}

/** Nothing behind it is a request. */
function endsConnection({ method, version, fields }: ReadRequest): boolean {
  const has = (wanted: string) =>
    fields.filter(([name]) => name.toLowerCase() === wanted).map(([, value]) => value)
  const options = has('connection')
    .join()
    .toLowerCase()
    .split(',')
    .map((each) => each.trim())
  const kept =
    version === '1.1'
      ? !options.includes('close')
      : options.includes('keep-alive') && !options.includes('close')
  return !kept || has('upgrade').length > 0 || method === 'TRACE' || method === 'CONNECT'
}

const HOST = /^[A-Za-z0-9._~!$&'()*+;=%-]+(?::[0-9]{1,5})?$|^\[[0-9A-Fa-f:.]+\](?::[0-9]{1,5})?$/
const READS = new Set(['GET', 'HEAD'])
const TAKEN = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS'])

function forwarded(request: ReadRequest): Forwarded | null {
  const { method, version, target, fields, whole } = request
  const hosts = fields.filter(([name]) => name.toLowerCase() === 'host')
  const host = fieldOf(request, 'host')
  if (hosts.length > 1 || (hosts.length === 0 && version === '1.1')) return null
  if (host !== null && !HOST.test(host)) return null
  const expectations = fields.filter(([name]) => name.toLowerCase() === 'expect')
  if (expectations.some(([, value]) => value.toLowerCase() !== '100-continue')) return null
  const read = readPath(target, host)
  if (read === null || !hasRoute(method, read.path, request.body.length)) return null
  if (read.slashes && !read.path.startsWith('/opaque/')) return null
  return { key: keyOf(request, read.path + read.query), whole }
}

function hasRoute(method: string, path: string, length: number): boolean {
  if (path.startsWith('/docs/')) return READS.has(method) || method === 'LIST'
  if (path.startsWith('/opaque/')) return READS.has(method)
  if (path === '/small') return method === 'POST' && length <= 1024
  return path === '/open' && TAKEN.has(method)
}

const UNRESERVED = /^[A-Za-z0-9\-._~]$/

interface ReadPath {
  readonly path: string
  readonly query: string
  /** It has encoded slashes. */
  readonly slashes: boolean
}

/** SPEC 4.1. */
function readPath(target: string, host: string | null): ReadPath | null {
  const [, authority = null, origin = ''] = /^(?:https?:\/\/([^/?#]*))?(.*)$/i.exec(target) ?? []
  if (authority !== null && authority.toLowerCase() !== (host ?? authority).toLowerCase()) return null
  if (authority !== null && !/^[^@\\]+$/.test(authority)) return null
  const [, raw = '', query = ''] = /^([^?]*)(.*)$/s.exec(origin) ?? []
  const path = raw === '' && authority !== null ? '/' : raw
  if (!path.startsWith('/') || /[\\;#\x00-\x20\x7f-\xff]/.test(path) || query.includes('#')) return null
  const segments = path.slice(1).split('/')
  for (const [index, segment] of segments.entries()) {
    if (segment === '' && index < segments.length - 1) return null
    const plain = decoded(segment)
    if (plain === null || /[\\;\x00-\x1f\x7f]/.test(plain)) return null
    if (plain.split('/').some((each) => /^\.\.?$/.test(each))) return null
  }
  return { path: path.replace(/%[0-9A-Fa-f]{2}/g, kept), query, slashes: /%2f/i.test(path) }
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}

function kept(escape: string): string {
  const byte = String.fromCharCode(Number.parseInt(escape.slice(1), 16))
  return UNRESERVED.test(byte) ? byte : escape.toUpperCase()
}
