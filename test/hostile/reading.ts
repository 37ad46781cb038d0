/**
 * Parses a stream of HTTP/1.1 requests by RFC 9112, or as lenient servers do. Written from the RFC and not from the
 * gateway, as an oracle for it: the upstream of these tests parses the bytes that it receives, and the fuzzer those
 * that it sends.
 */

import type { Leniency } from './leniency.ts'

export interface ReadRequest {
  readonly method: string
  readonly target: string
  readonly version: string
  /** Name and value; names as received. */
  readonly fields: readonly (readonly [string, string])[]
  readonly body: string
  /** The whole body has arrived. */
  readonly whole: boolean
}

interface Read {
  readonly requests: readonly ReadRequest[]
  /** Why the parsing ended: all was read, the bytes ended within a message, or they are not HTTP. */
  readonly end: 'all' | 'part' | 'malformed'
  /** Number of bytes that belong to the requests. */
  readonly taken: number
}

const MORE = Symbol('the bytes end here')
const BAD = Symbol('this is no HTTP')
type Cut = typeof MORE | typeof BAD

/** @param bytes one character each */
export function readRequests(bytes: string, leniency: Leniency): Read {
  const reader = new Reader(bytes, leniency)
  const requests: ReadRequest[] = []
  for (;;) {
    const request = reader.request()
    if (request === MORE) return { requests, end: reader.rest ? 'part' : 'all', taken: reader.taken }
    if (request === BAD) return { requests, end: 'malformed', taken: reader.taken }
    requests.push(request)
    if (!request.whole) return { requests, end: reader.broken ? 'malformed' : 'part', taken: reader.taken }
  }
}

/** The value of a field of the request; null when it is absent or repeated. */
export function fieldOf({ fields }: Pick<ReadRequest, 'fields'>, name: string): string | null {
  const values = fields.filter(([each]) => each.toLowerCase() === name)
  return values.length === 1 ? (values[0]?.[1] ?? null) : null
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Visible, white space, or beyond ASCII. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/
const METHOD = "([!#$%&'*+\\-.^_`|~0-9A-Za-z]+)"
/** Visible ASCII; the query may also have bytes beyond it, because no decision depends on them. */
const TARGET = '([\\x21-\\x7e]+|[\\x21-\\x3e\\x40-\\x7e]*\\?[\\x21-\\x7e\\x80-\\xff]*)'
const REQUEST_LINE: Readonly<Record<Leniency['parting'], RegExp>> = {
  'one space': new RegExp(`^${METHOD} ${TARGET} HTTP/(1\\.[01])$`),
  spaces: new RegExp(`^${METHOD} +${TARGET} +(?:HTTP|RTSP|ICE)/(1\\.[01])$`),
  // The white space of C's isspace: in these bytes, Unicode's further white space is UTF-8.
  'white space': /^[\t-\r ]*([^\t-\r ]+)[\t-\r ]+([^\t-\r ]+)(?:[\t-\r ]+HTTP\/?([0-9.]*))?[\t-\r ]*$/i,
}
/** RFC 9112, section 7.1.1. */
const EXTENSIONS =
  /^(?:[\t ]*;[\t ]*[!#$%&'*+\-.^_`|~\w]+(?:[\t ]*=[\t ]*(?:[!#$%&'*+\-.^_`|~\w]+|"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/
/** The same without names, and without values. */
const LOOSE_EXTENSIONS =
  /^(?:;[!#$%&'*+\-.^_`|~\w]*(?:=[!#$%&'*+\-.^_`|~\w]*(?:"(?:[\t \x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*")?)?)*$/

/** The range of 64 bits: a length beyond it is invalid. */
const MOST = 2n ** 64n - 1n

class Reader {
  readonly #bytes: string
  readonly #how: Leniency
  #at = 0
  taken = 0
  /** The last request's body is malformed. */
  broken = false

  constructor(bytes: string, how: Leniency) {
    this.#bytes = bytes
    this.#how = how
  }

  get rest(): boolean {
    return this.#at < this.#bytes.length
  }

  request(): ReadRequest | Cut {
    const start = this.#emptyLines()
    if (start !== null) return start
    const line = this.#line()
    if (typeof line !== 'string') return line
    const parts = REQUEST_LINE[this.#how.parting].exec(line)
    if (parts === null) return BAD
    const fields = this.#fields()
    if (fields === MORE || fields === BAD) return fields
    const [, method = '', target = '', version = '1.1'] = parts
    const head = { method, target, version, fields }
    this.taken = this.#at
    const framing = this.#framing(head)
    if (framing === BAD) return BAD
    const body = framing === 'chunks' ? this.#chunks() : this.#sized(framing)
    if (typeof body === 'string') {
      this.taken = this.#at
      return { ...head, body, whole: true }
    }
    this.broken = body === BAD
    return { ...head, body: '', whole: false }
  }

  /** RFC 9112, section 2.2: empty lines before a request line are ignored. */
  #emptyLines(): Cut | null {
    const lines = this.#how.parting === 'one space' ? /(?:\r\n|\n)*/y : /[\r\n]*/y
    lines.lastIndex = this.#at
    this.#at += lines.exec(this.#bytes)?.[0].length ?? 0
    return this.rest ? null : MORE
  }

  #line(ends: string = this.#how.lineEnd): string | Cut {
    let at = this.#at
    for (; at < this.#bytes.length; at++) {
      const code = this.#bytes.charCodeAt(at)
      if (code !== 10 && code !== 13) continue
      const pair = code === 13 && this.#bytes.charCodeAt(at + 1) === 10
      if (code === 13 && at + 1 === this.#bytes.length) return MORE
      if (!pair && (code === 13 ? ends !== 'CR' : ends === 'CRLF')) {
        if (ends === 'CRLF') return BAD
        continue
      }
      const line = this.#bytes.slice(this.#at, at)
      this.#at = at + (pair ? 2 : 1)
      return line
    }
    return MORE
  }

  #fields(): [string, string][] | Cut {
    const fields: [string, string][] = []
    for (;;) {
      const line = this.#line()
      if (typeof line !== 'string') return line
      if (line === '') return fields
      if (!this.#field(line, fields)) return BAD
    }
  }

  #field(line: string, fields: [string, string][]): boolean {
    const { folds, trimsNames, skipsBadLines, nulEnds } = this.#how
    if (/^[\t ]/.test(line) && folds) {
      const last = fields.at(-1)
      if (last !== undefined) last[1] += ` ${line.trim()}`
      return true
    }
    const colon = line.indexOf(':')
    const name = trimsNames ? line.slice(0, Math.max(colon, 0)).trim() : line.slice(0, Math.max(colon, 0))
    let value = line.slice(colon + 1)
    if (nulEnds) value = value.split('\0', 1)[0] ?? ''
    value = value.replace(/^[\t ]+|[\t ]+$/g, '')
    const lenient = this.#how.lineEnd !== 'CRLF' || nulEnds
    if (!TOKEN.test(name) || !(lenient || VALUE.test(value))) return skipsBadLines
    fields.push([name, value])
    return true
  }

  /** Bytes of body, or chunks. */
  #framing({ version, fields }: Omit<ReadRequest, 'body' | 'whole'>): number | 'chunks' | typeof BAD {
    const { both, lengths } = this.#how
    const all = (wanted: string) =>
      fields.filter(([name]) => this.#named(name) === wanted).map(([, value]) => value)
    const sizes = all('content-length')
    const codings = all('transfer-encoding')
    if (sizes.length > 0 && codings.length > 0 && both === 'refused') return BAD
    if (codings.length > 0 && (sizes.length === 0 || both === 'chunks')) {
      const chunked = this.#chunked(codings, version)
      if (chunked !== false) return chunked
    }
    if (sizes.length === 0) return 0
    if (sizes.length > 1 && lengths === 'refused') return BAD
    const size = this.#number((lengths === 'last' ? sizes.at(-1) : sizes[0]) ?? '', 10)
    return size === null ? BAD : size
  }

  #named(name: string): string {
    return this.#how.foldsNames ? name.toLowerCase().replaceAll('_', '-') : name.toLowerCase()
  }

  #chunked(codings: readonly string[], version: string): 'chunks' | false | typeof BAD {
    const list = codings.join(',').toLowerCase()
    switch (this.#how.coding) {
      case 'chunked':
        return list === 'chunked' && version === '1.1' ? 'chunks' : BAD
      case 'last':
        return /(?:^|,)\s*chunked\s*$/.test(list) ? 'chunks' : false
      case 'any':
        return list.includes('chunked') ? 'chunks' : false
    }
  }

  #number(text: string, base: 10 | 16): number | null {
    const { numbers } = this.#how
    if (numbers === 'digits') {
      const digits = base === 10 ? /^[0-9]{1,40}$/ : /^[0-9A-Fa-f]{1,40}$/
      if (!digits.test(text) || BigInt(base === 16 ? `0x${text}` : text) > MOST) return null
      return Number.parseInt(text, base)
    }
    const value = Number.parseInt(text, base)
    if (Number.isNaN(value)) return null
    return numbers === 'prefix' ? Math.max(0, value) : value >>> 0
  }

  #sized(length: number): string | Cut {
    if (this.#bytes.length - this.#at < length) return MORE
    this.#at += length
    return this.#bytes.slice(this.#at - length, this.#at)
  }

  #chunks(): string | Cut {
    let body = ''
    for (;;) {
      const line = this.#line(this.#how.extensionEnd)
      if (typeof line !== 'string') return line
      const size = this.#chunkSize(line)
      if (size === null) return BAD
      if (size === 0) return this.#trailers() ?? body
      const data = this.#sized(size)
      if (typeof data !== 'string') return data
      body += data
      const end = this.#chunkEnd()
      if (end !== null) return end
    }
  }

  #chunkSize(line: string): number | null {
    const [, digits = '', rest = ''] = /^([0-9A-Fa-f]*)(.*)$/s.exec(line) ?? []
    if (this.#how.numbers !== 'digits') return this.#number(line, 16)
    const { extensionEnd, parting } = this.#how
    const lenient = extensionEnd === 'LF' || (parting === 'spaces' && LOOSE_EXTENSIONS.test(rest))
    return lenient || EXTENSIONS.test(rest) ? this.#number(digits, 16) : null
  }

  #chunkEnd(): Cut | null {
    const { chunkEnd } = this.#how
    const left = this.#bytes.length - this.#at
    if (this.#bytes.startsWith('\r\n', this.#at)) this.#at += 2
    else if (chunkEnd === 'CRLF')
      return left < 2 && '\r\n'.startsWith(this.#bytes.slice(this.#at)) ? MORE : BAD
    else if (chunkEnd === 'two bytes') {
      if (left < 2) return MORE
      this.#at += 2
    }
    return null
  }

  #trailers(): Cut | null {
    const fields = this.#fields()
    return fields === MORE || fields === BAD ? fields : null
  }
}
