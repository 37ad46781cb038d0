/**
 * Mutated responses: the client receives what the strictest reader finds in them, or nothing complete, and the next
 * request on the same connections gets its own response. The failure has the seed.
 */

import type { Test } from 'tap'
import { Random } from '../../support/random.ts'
import { HostileUpstream } from '../hostile-upstream.ts'
import { strict } from '../leniency.ts'
import { readRequests } from '../reading.ts'
import { inChunks } from './case.ts'
import { mutate } from './mutations.ts'

const PHRASES = [
  ['200 OK', '200', '201 Created', '404 Not Found', '500 X'],
  ['204 No Content', '304 Not Modified'],
].flat()
const FIELDS = [
  ['X-A: a', 'X-B: \t b \xe9', 'Content-Type: text/plain', 'Connection: keep-alive'],
  ['Keep-Alive: timeout=5', 'Set-Cookie: a=b', 'Date: x', 'X-Empty:'],
].flat()
const BODIES = ['', 'a', 'abcd', 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL', '0\r\n\r\n']

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

/**
 * The one complete response that the strictest reader of the RFC finds first in the bytes; null where it finds none.
 * What follows the status line is read as a request is.
 */
function readAnswer(bytes: string): { status: number; body: string } | null {
  const [line, minor, digits] = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: [^\r\n]*)?\r\n/.exec(bytes) ?? []
  if (line === undefined) return null
  const status = Number(digits)
  const end = bytes.indexOf('\r\n\r\n') + 4
  const bodiless = status < 200 || status === 204 || status === 304
  const rest = bytes.slice(line.length, bodiless ? end : bytes.length)
  const [read] = readRequests(`GET / HTTP/1.${minor}\r\n${rest}`, strict).requests
  if (read === undefined || status === 101) return null
  if (status < 200) return readAnswer(bytes.slice(end))
  if (bodiless) return { status, body: '' }
  if (read.fields.some(([name]) => /^(?:content-length|transfer-encoding)$/i.test(name)))
    return read.whole ? { status, body: read.body } : null
  // The connection ends behind these bytes.
  return { status, body: bytes.slice(end) }
}

/** The next requests are checked after each of this many. */
const CHECKED = 10

export async function playMutated(t: Test, cases: number): Promise<void> {
  const seed = Date.now() % 1_000_000_000
  const hostile = await HostileUpstream.start(t)
  let whole = 0
  for (let index = 0; index < cases; index++) {
    if (await playOne(t, hostile, seed, index)) whole++
    if (index % CHECKED === 0) t.ok(await hostile.nextRequestsWork(), 'the next requests are unaffected')
  }
  const refused = cases - whole
  t.comment(JSON.stringify({ seed, whole, refused }))
  t.ok(whole > cases / 6 && refused > cases / 6)
}

/** @returns whether the client got a response of the upstream */
async function playOne(t: Test, hostile: HostileUpstream, seed: number, index: number): Promise<boolean> {
  const random = new Random(seed, index)
  const { bytes, valid } = mutate(validAnswer(random), random, [0, 1, 1, 1, 2, 3], () => validAnswer(random))
  const at = random.below(bytes.length + 1)
  const packets = random.once(2) ? bytes : [bytes.slice(0, at), bytes.slice(at)]
  const { all, text } = await hostile.play({ packets, after: (socket) => socket.end() })
  const due = readAnswer(bytes)
  const [given] = all
  const name = `seed ${seed}, answer ${index}: ${JSON.stringify(bytes)}`
  const passed = given !== undefined && given.code === null
  if (passed && (given.status !== due?.status || given.body !== due.body))
    t.fail(`${name} became ${JSON.stringify(text)}`)
  if (valid && given?.code !== null) t.fail(`${name} did not pass: ${JSON.stringify(text)}`)
  if (given !== undefined && given.code !== null && given.status !== 502) t.fail(`${name} is ${given.status}`)
  return passed
}
