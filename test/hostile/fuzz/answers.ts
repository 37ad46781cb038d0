/** Responses of an upstream, valid and mutated, and the most that a client may receive of them. */

import { inChunks } from './grammar.ts'
import { mutate } from './mutations.ts'
import type { Random } from '../../support/random.ts'

const PHRASES = [
  ['200 OK', '200', '201 Created', '404 Not Found', '500 X'],
  ['204 No Content', '304 Not Modified'],
].flat()
const FIELDS = [
  ['X-A: a', 'X-B: \t b \xe9', 'Content-Type: text/plain', 'Connection: keep-alive'],
  ['Keep-Alive: timeout=5', 'Set-Cookie: a=b', 'Date: x', 'X-Empty:'],
].flat()
const BODIES = ['', 'a', 'abcd', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL', '0\r\n\r\n']

/** @param bytes possibly mutated */
interface MadeAnswer {
  readonly bytes: string
  readonly valid: boolean
}

export function makeAnswer(random: Random): MadeAnswer {
  let bytes = validAnswer(random)
  const mutations = random.pick([0, 1, 1, 1, 2, 3])
  for (let i = 0; i < mutations; i++) bytes = mutate(bytes, random, () => validAnswer(random))
  return { bytes, valid: mutations === 0 }
}

function validAnswer(random: Random): string {
  const phrase = random.pick(PHRASES)
  const bodiless = /^(?:204|304)/.test(phrase)
  const body = bodiless ? '' : random.pick(BODIES)
  const lines: string[] = []
  for (let i = random.below(4); i > 0; i--) lines.push(random.pick(FIELDS))
  const chunked = !bodiless && random.once(2)
  if (chunked) lines.push('Transfer-Encoding: chunked')
  else if (!bodiless) lines.push(`Content-Length: ${body.length}`)
  const interim = random.once(5) ? 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n' : ''
  return `${interim}HTTP/1.1 ${[phrase, ...lines].join('\r\n')}\r\n\r\n${chunked ? inChunks(random, body) : body}`
}

interface ReadAnswer {
  readonly status: number
  readonly body: string
}

const HEAD =
  /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n]*)?\r\n((?:[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*\r\n)*)$/

/**
 * The one complete response that the strictest reader of the RFC finds first in the bytes; null where it finds none.
 */
export function readAnswer(bytes: string): ReadAnswer | null {
  const end = bytes.indexOf('\r\n\r\n')
  const [, minor = '', digits = '', lines = ''] = HEAD.exec(bytes.slice(0, end + 2)) ?? []
  if (end < 0 || digits === '') return null
  const status = Number(digits)
  const rest = bytes.slice(end + 4)
  const values = (name: string) =>
    lines
      .split('\r\n')
      .filter((line) => line.slice(0, line.indexOf(':')).toLowerCase() === name)
      .map((line) => line.slice(line.indexOf(':') + 1).replace(/^[\t ]+|[\t ]+$/g, ''))
  const lengths = values('content-length')
  const codings = values('transfer-encoding')
  if (lengths.length + codings.length > 1 || lengths.some((each) => !/^[0-9]{1,15}$/.test(each))) return null
  if (codings.some((each) => each.toLowerCase() !== 'chunked' || minor === '0') || status === 101) return null
  if (status < 200) return readAnswer(rest)
  if (status === 204 || status === 304) return { status, body: '' }
  if (codings.length > 0) {
    const body = readChunks(rest)
    return body === null ? null : { status, body }
  }
  // The connection ends behind these bytes.
  if (lengths.length === 0) return { status, body: rest }
  const length = Number(lengths[0])
  return rest.length < length ? null : { status, body: rest.slice(0, length) }
}

const SIZE = /^([0-9A-Fa-f]{1,20})(?:[\t ]*;[\t\x20-\x7e\x80-\xff]*)?\r\n/
const TRAILERS = /^(?:[!#$%&'*+\-.^_`|~\w]+:[\t\x20-\x7e\x80-\xff]*\r\n)*\r\n/

function readChunks(bytes: string): string | null {
  let body = ''
  for (let at = 0; ;) {
    const size = SIZE.exec(bytes.slice(at))
    if (size === null) return null
    at += size[0].length
    const length = Number.parseInt(size[1] ?? '', 16)
    if (length === 0) return TRAILERS.test(bytes.slice(at)) ? body : null
    if (bytes.slice(at + length, at + length + 2) !== '\r\n') return null
    body += bytes.slice(at, at + length)
    at += length + 2
  }
}
