/**
 * A gateway in front of the recording upstream, and a client that writes bytes. Public routes only, because these
 * tests cover the parsing of requests.
 */

import { truncateSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { startWorld, type World, type WorldOptions } from '../support/world.ts'
import { type Answers, readAnswers } from '../support/responses.ts'
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

/** Milliseconds without data after which a client stops waiting. */
const PATIENCE = 30_000

export interface Exchange extends Answers {
  readonly text: string
  /** How the connection ended: closed in order, reset, or still open. */
  readonly end: 'closed' | 'reset' | 'open'
}

export class TestGateway {
  readonly world: World
  readonly upstream: RecordingUpstream

  constructor(world: World, upstream: RecordingUpstream) {
    this.world = world
    this.upstream = upstream
  }

  send(packets: Packets, options: SendOptions = {}): Promise<Exchange> {
    return send(this.world.port, packets, options)
  }

  /** The forwarding decisions in the gateway's log. */
  decided(): Decided[] {
    return this.world
      .log()
      .filter((line) => line.msg === 'request' && /^(?:main|opaque)$/.test(String(line.upstream)))
      .map((line) => ({ id: String(line.request_id), method: String(line.method), path: String(line.path) }))
  }

  /** Drops the requests that are answered, and the log. */
  forget(): void {
    this.upstream.forget()
    truncateSync(join(this.world.folder, 'log'))
  }

  /**
   * Checks that every reading of the upstream's bytes finds exactly the decided requests. The log is written after
   * the response.
   */
  async agrees(t: Test): Promise<void> {
    const check = () => sameForAll(this.upstream.streams, this.decided())
    await until(
      () => check() === null,
      () => String(check()),
    )
    t.equal(check(), null)
  }
}

export async function startGateway(
  t: Test,
  options: Omit<WorldOptions, 'target'> = {},
): Promise<TestGateway> {
  const upstream = new RecordingUpstream()
  const world = await startWorld(t, {
    routes: ROUTES,
    beside: { name: 'opaque', upstream: ['allow_encoded_slashes: true'], routes: ['GET /opaque/*: public'] },
    top: ['methods: [LIST]'],
    ...options,
    target: await upstream.listen(t),
  })
  const gateway = new TestGateway(world, upstream)
  // Tests that share the gateway find their own requests alone.
  t.beforeEach(async () => {
    await until(() => upstream.settled, 'the end of the requests of the test before')
    gateway.forget()
  })
  return gateway
}

/** Bytes, one character each; several are written in sequence, each once the previous one is flushed. */
export type Packets = string | readonly string[]

interface SendOptions {
  /** Stops waiting after this number of responses. */
  readonly answers?: number
  /** Called once a header section has arrived, or nothing will come. */
  readonly begun?: () => void
  /** Sends FIN once everything is written. */
  readonly finish?: boolean
  /** On a timeout, sends FIN first, and stops waiting this number of milliseconds later. */
  readonly finishAfter?: number
  readonly heads?: readonly boolean[]
  readonly patience?: number
}

/** Writes, and reads until the gateway closes, the wanted responses have arrived, or no more data arrives. */
export function send(port: number, packets: Packets, options: SendOptions = {}): Promise<Exchange> {
  const { answers = Infinity, finish = false, finishAfter = null, heads = [], patience = PATIENCE } = options
  const { begun = () => {} } = options
  return new Promise((resolve) => {
    const client = new RawClient(port, { halfOpen: true })
    const { socket } = client
    const read = () => readAnswers(client.received, heads)
    const done = (end: Exchange['end']) => {
      begun()
      client.close()
      resolve({ text: client.received, end, ...read() })
    }
    let finished = finishAfter === null
    socket.setTimeout(patience, () => {
      if (finished) return done('open')
      finished = true
      socket.setTimeout(finishAfter ?? patience)
      return void socket.end()
    })
    socket.on('data', () => {
      if (client.received.includes('\r\n\r\n')) begun()
      if (answers !== Infinity && read().all.length >= answers) done('open')
    })
    socket.on('end', () => done('closed')).on('error', () => done('reset'))
    const written = client.sendEach([packets].flat())
    if (finish) void written.then(() => client.finish())
  })
}

export const post = (headers: string, body = '') => `POST /open HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`
export const get = (headers: string, target = '/docs/a') =>
  `GET ${target} HTTP/1.1\r\nHost: a\r\n${headers}\r\n`
export const chunked = (body: string, more = '') => post(`Transfer-Encoding: chunked\r\n${more}`, body)

/** Follows a refused request, and must not be read as a request. */
const HIDDEN = 'GET /docs/hidden HTTP/1.1\r\nHost: a\r\n\r\n'

/**
 * Each case is refused with one response of this code and a closed connection, nothing of it reaches the upstream,
 * and the gateway keeps working.
 *
 * @param cases name → bytes
 */
export async function refusesAll(
  t: Test,
  gateway: TestGateway,
  cases: Readonly<Record<string, Packets>>,
  code = 'request_malformed',
  status = 400,
): Promise<void> {
  for (const [name, packets] of Object.entries(cases)) {
    const all = typeof packets === 'string' ? [packets + HIDDEN] : [...packets, HIDDEN]
    const { all: answers, rest, end, text } = await gateway.send(all)
    const got = answers.map((each) => ({ status: each.status, code: each.code, closes: each.closes }))
    t.same({ got, rest, end }, { got: [{ status, code, closes: true }], rest: '', end: 'closed' }, name, {
      text,
    })
    await onlyAlive(t, gateway, name)
  }
}

/** Each case gets one 200 of the upstream, and so does the request after it. @param cases name → bytes */
export async function passesAll(
  t: Test,
  gateway: TestGateway,
  cases: Readonly<Record<string, Packets>>,
): Promise<void> {
  for (const [name, packets] of Object.entries(cases)) {
    const sent = [packets, get('', '/docs/next')].flat()
    const { all: answers, rest, text } = await gateway.send(sent, { answers: 2 })
    t.same([answers.map(({ status }) => status), rest], [[200, 200], ''], name, { text })
    const paths = gateway.upstream.requests.map(({ target }) => target)
    t.equal(paths.length, 2, `${name}: as many requests upstream`)
    t.ok(paths.includes('/docs/next'), name)
    await gateway.agrees(t)
    gateway.forget()
  }
}

/** The gateway responds, and the upstream has received only that request. */
export async function onlyAlive(t: Test, gateway: TestGateway, name: string): Promise<void> {
  const alive = await gateway.send(get('', '/docs/alive'), { answers: 1 })
  t.same(
    [alive.all.map(({ status }) => status), gateway.upstream.requests.map(({ target }) => target)],
    [[200], ['/docs/alive']],
    `${name}: nothing upstream, and the gateway keeps working`,
  )
  await gateway.agrees(t)
  gateway.forget()
}
