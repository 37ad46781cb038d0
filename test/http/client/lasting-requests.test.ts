/**
 * Requests of one owner that last took all connections to a target, over HTTP/1.1 and HTTP/2: 256 event streams of one caller,
 * or 800, and each request of all others was 504. Now the owner that holds the most gives some up, and room is kept.
 */

import type { Readable } from 'node:stream'
import { PassThrough } from 'node:stream'
import t, { type Test } from 'tap'
import { RequestPool } from '../../../src/http/client/request-pool.ts'
import type { RequestOwner } from '../../../src/http/client/upstream-request.ts'
import { serve2 } from '../../proxy/http2/support.ts'
import { serve } from '../../proxy/support.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { until } from '../../support/until.ts'
import { PooledRequest } from './pool-requests.ts'
import { poolSettings } from './pool-settings.ts'

const MALLORY: RequestOwner = ['acme', 'mallory']
const OTHERS: Readonly<Record<string, RequestOwner>> = {
  'another tenant': ['globex', 'carol'],
  'another caller of the tenant': ['acme', 'bob'],
  'a client of public routes': ['', '192.0.2.1'],
}
/** The slots of a target: of 16 connections, or of one of HTTP/2. */
const slotsOf = (http2: boolean) => (http2 ? 100 : 16)
/** Milliseconds before an eviction. */
const DELAY = 100
/** The age from which requests of every kind may be evicted. */
const LASTING = 10 * DELAY
const CHUNK = Buffer.alloc(16 * 1024)

interface Answer {
  begin(): void
  write(chunk: Buffer | string): boolean
  end(text: string): void
  once(event: 'drain', listener: () => void): unknown
}

/** What keeps a slot: the paths of the upstream, and whether the request has a body without an end. */
const KINDS = {
  'event streams': { path: '/events', uploads: false },
  'responses without a body byte': { path: '/silent', uploads: false },
  'downloads that are read as they come': { path: '/download', uploads: false },
  'long polls': { path: '/poll', uploads: false },
  'uploads that are answered at their end': { path: '/poll', uploads: true },
  'uploads that are answered before': { path: '/events', uploads: true },
}

function answer(path: string, to: Answer): void {
  if (path === '/short') return to.end('short')
  if (path === '/poll') return
  to.begin()
  if (path === '/events') to.write('data: 1\n\n')
  if (path !== '/download') return
  const more = () => {
    if (to.write(CHUNK)) setImmediate(more)
    else to.once('drain', more)
  }
  more()
}

/** A pool at a real server. */
async function poolAt(t: Test, http2: boolean): Promise<RequestPool> {
  const port = http2
    ? (
        await serve2(t, (stream, { ':path': path = '' }) => {
          stream.resume()
          answer(path, {
            begin: () => stream.respond({}),
            write: (chunk) => !stream.destroyed && stream.write(chunk),
            end: (text) => stream.end(text),
            once: (event, listener) => stream.once(event, listener),
          })
        })
      ).port
    : await serve(t, (request, response) => {
        request.on('error', () => {}).resume()
        answer(request.url ?? '', {
          begin: () => response.flushHeaders(),
          write: (chunk) => !response.destroyed && response.write(chunk),
          end: (text) => response.end(text),
          once: (event, listener) => response.once(event, listener),
        })
      })
  const [connections, uploads] = [http2 ? 1 : slotsOf(http2), slotsOf(http2)]
  const pool = new RequestPool({ ...poolSettings(port), http2, connections, uploads, evictionDelay: DELAY })
  t.teardown(() => pool.destroy())
  return pool
}

/** Requests that an attacker keeps in number: each that ends is asked again. */
class Flood {
  readonly open: PooledRequest[]
  /** Of those that had begun. */
  evicted = 0
  #stopped = false

  constructor(t: Test, pool: RequestPool, count: number, { path, uploads }: (typeof KINDS)['long polls']) {
    const bodies: Readable[] = []
    const ask = (at: number) => {
      if (this.#stopped) return
      const body = uploads ? new PassThrough() : null
      body?.write(CHUNK)
      if (body !== null) bodies.push(body)
      const asked = new PooledRequest(pool, MALLORY, path, body)
      this.open[at] = asked
      void asked.over.then(() => {
        if (asked.begun) this.evicted++
        setImmediate(ask, at)
      })
    }
    this.open = []
    for (let at = 0; at < count; at++) ask(at)
    t.teardown(() => {
      this.#stopped = true
    })
  }

  get begun(): number {
    return this.open.filter(({ begun, isOver }) => begun && !isOver).length
  }
}

const responded = async (pool: RequestPool, owner: RequestOwner) => {
  const asked = new PooledRequest(pool, owner, '/short')
  await until(() => asked.isOver, 'the response', { pause: 1, patience: 5000 })
  return asked.error?.message ?? asked.status
}

for (const http2 of [false, true])
  for (const [kind, request] of Object.entries(KINDS))
    for (const [who, owner] of Object.entries(OTHERS))
      t.test(`${http2 ? 'HTTP/2' : 'HTTP/1.1'}: ${kind} leave room for ${who}`, async (t) => {
        const time = holdTime(t)
        const pool = await poolAt(t, http2)
        const slots = slotsOf(http2)
        const flood = new Flood(t, pool, 2 * slots, request)
        await until(() => flood.begun === slots, 'all slots in use')
        time.pass(LASTING)
        t.equal(flood.evicted, 0)
        // No time passes from here on: none of them waits.
        for (let i = 0; i < 20; i++) t.equal(await responded(pool, owner), 200)
        t.equal(flood.evicted, slots - flood.begun)
        // 2/16 of the slots, and the one of the first request.
        t.ok(flood.evicted <= slots / 8 + 1, `${flood.evicted} are evicted`)
      })

t.test('an owner that is alone has all slots: at first, and again when the others have gone', async (t) => {
  const time = holdTime(t)
  const pool = await poolAt(t, false)
  const slots = slotsOf(false)
  const flood = new Flood(t, pool, 2 * slots, KINDS['event streams'])
  await until(() => flood.begun === slots, 'all slots in use')
  time.pass(30_000)
  t.equal(flood.evicted, 0)
  let status: unknown
  void responded(pool, ['globex', 'carol']).then((given) => (status = given))
  await untilStepped(time, () => status === 200)
  t.ok(flood.begun < slots)
  await untilStepped(time, () => flood.begun === slots)
})
