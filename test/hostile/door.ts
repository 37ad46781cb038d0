/**
 * A gateway in front of the recording upstream, and a client that writes bytes: what each file of this folder begins
 * with. Public routes only, as it is the reading of requests that is tried here.
 */

import { truncateSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Test } from 'tap'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'
import { type Answers, readAnswers } from './answers.ts'
import { type Decided, RecordingUpstream, sameForAll } from './upstream.ts'

const ROUTES = [
  'GET /docs/*: public',
  'LIST /docs/*: public',
  'POST /open: public',
  'PUT /open: public',
  'DELETE /open: public',
  'OPTIONS /open: public',
  'GET /open: public',
  'POST /small: { permission: public, max_body: 1KiB }',
  'GET /v1/trainings: trainings:list',
]

/** Milliseconds that a client waits for more before it says that nothing more comes. */
const PATIENCE = 8000

export interface Outcome extends Answers {
  readonly text: string
  /** How the connection ended: closed in order, reset, or not at all. */
  readonly end: 'closed' | 'reset' | 'open'
}

export class Door {
  readonly world: World
  readonly upstream: RecordingUpstream

  constructor(world: World, upstream: RecordingUpstream) {
    this.world = world
    this.upstream = upstream
  }

  send(packets: Packets, options: SendOptions = {}): Promise<Outcome> {
    return send(this.world.port, packets, options)
  }

  /** What the gateway has logged as decided, for the upstream. */
  decided(): Decided[] {
    return this.world
      .log()
      .filter((line) => line.msg === 'request' && /^(?:main|opaque)$/.test(String(line.upstream)))
      .map((line) => ({ id: String(line.request_id), method: String(line.method), path: String(line.path) }))
  }

  /** What has been answered, and its log. */
  forget(): void {
    this.upstream.forget()
    truncateSync(join(this.world.folder, 'log'))
  }

  /** Each reading of what the upstream got finds what was decided, and nothing else. The log comes after the answer. */
  async agrees(t: Test): Promise<void> {
    const check = () => sameForAll(this.upstream.streams, this.decided())
    for (let i = 0; i < 100 && check() !== null; i++) await sleep(10)
    t.equal(check(), null)
  }
}

export async function openDoor(t: Test, options: Omit<WorldOptions, 'target'> = {}): Promise<Door> {
  const upstream = await RecordingUpstream.start()
  t.teardown(() => upstream.close())
  const world = await startWorld(t, {
    routes: ROUTES,
    beside: { name: 'opaque', upstream: ['allow_encoded_slashes: true'], routes: ['GET /opaque/*: public'] },
    top: ['methods: [LIST]'],
    ...options,
    target: upstream.url,
  })
  return new Door(world, upstream)
}

/** Bytes, one character each; several are written one after the other, each when the one before has gone out. */
export type Packets = string | readonly string[]

export interface SendOptions {
  /** Ends the wait: so many answers are here. */
  readonly answers?: number
  /** Says FIN when all is written. */
  readonly finish?: boolean
  /** Says FIN in place of giving up, and gives up so many milliseconds later. */
  readonly finishAfter?: number
  readonly heads?: readonly boolean[]
  readonly patience?: number
}

/** Writes, and reads until the gateway closes, the answers wanted are there, or nothing comes any more. */
export function send(port: number, packets: Packets, options: SendOptions = {}): Promise<Outcome> {
  const { answers = Infinity, finish = false, finishAfter = null, heads = [], patience = PATIENCE } = options
  const all = typeof packets === 'string' ? [packets] : packets
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1', noDelay: true, allowHalfOpen: true })
    let text = ''
    const done = (end: Outcome['end']) => {
      socket.destroy()
      resolve({ text, end, ...readAnswers(text, heads) })
    }
    let finished = finishAfter === null
    socket.setTimeout(patience, () => {
      if (finished) return done('open')
      finished = true
      socket.setTimeout(finishAfter ?? patience)
      return void socket.end()
    })
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1')
      if (answers !== Infinity && readAnswers(text, heads).all.length >= answers) done('open')
    })
    socket.on('end', () => done('closed')).on('error', () => done('reset'))
    void writeAll(socket, all, finish)
  })
}

async function writeAll(
  socket: ReturnType<typeof connect>,
  packets: readonly string[],
  finish: boolean,
): Promise<void> {
  for (const packet of packets) {
    if (!socket.writable) return
    await new Promise((resolve) => socket.write(packet, 'latin1', resolve))
    // Two writes in one turn of the loop may be read as one.
    await new Promise(setImmediate)
  }
  if (finish && socket.writable) socket.end()
}

export const post = (headers: string, body = '') => `POST /open HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`
export const get = (headers: string, target = '/docs/a') =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`
export const chunked = (body: string, more = '') => post(`Transfer-Encoding: chunked\r\n${more}`, body)

/** Behind what is refused: must be no request to anybody. */
const HIDDEN = 'GET /docs/hidden HTTP/1.1\r\nHost: a\r\n\r\n'

/**
 * Each is refused in one answer with this code, its connection closed, nothing of it upstream, and the gateway is well.
 *
 * @param cases name → bytes
 */
export async function refusesAll(
  t: Test,
  door: Door,
  cases: Readonly<Record<string, Packets>>,
  code = 'request_malformed',
  status = 400,
): Promise<void> {
  for (const [name, packets] of Object.entries(cases)) await refuses(t, door, name, packets, code, status)
}

async function refuses(t: Test, door: Door, name: string, packets: Packets, code: string, status: number) {
  const all = typeof packets === 'string' ? [packets + HIDDEN] : [...packets, HIDDEN]
  const { all: answers, rest, end, text } = await door.send(all)
  const got = answers.map((each) => ({ status: each.status, code: each.code, closes: each.closes }))
  t.same({ got, rest, end }, { got: [{ status, code, closes: true }], rest: '', end: 'closed' }, name, {
    text,
  })
  await onlyAlive(t, door, name)
}

/** Each has one 200 of the upstream's, as the request after it has. @param cases name → bytes */
export async function passesAll(
  t: Test,
  door: Door,
  cases: Readonly<Record<string, Packets>>,
): Promise<void> {
  for (const [name, packets] of Object.entries(cases)) {
    const all = typeof packets === 'string' ? [packets] : packets
    const { all: answers, rest, text } = await door.send([...all, get('', '/docs/next')], { answers: 2 })
    t.same([answers.map(({ status }) => status), rest], [[200, 200], ''], name, { text })
    const paths = door.upstream.requests.map(({ target }) => target)
    t.equal(paths.length, 2, `${name}: as many upstream`)
    t.ok(paths.includes('/docs/next'), name)
    await door.agrees(t)
    door.forget()
  }
}

/** The gateway answers, and the upstream has seen nothing but that. */
export async function onlyAlive(t: Test, door: Door, name: string): Promise<void> {
  const alive = await door.send(get('', '/docs/alive'), { answers: 1 })
  t.same(
    [alive.all.map(({ status }) => status), door.upstream.requests.map(({ target }) => target)],
    [[200], ['/docs/alive']],
    `${name}: nothing upstream, and the gateway goes on`,
  )
  await door.agrees(t)
  door.forget()
}
