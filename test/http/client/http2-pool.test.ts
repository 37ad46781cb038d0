/** The pool of a target of HTTP/2: streams shared by owner, the limits, and the end of connections. */

import { Readable } from 'node:stream'
import t from 'tap'
import { type PoolSettings, RequestPool } from '../../../src/http/client/request-pool.ts'
import type {
  RequestOwner,
  ResponseHead,
  ResponseReceiver,
  UpstreamRequest,
} from '../../../src/http/client/upstream-request.ts'
import {
  answer,
  frame,
  GOAWAY,
  goAway,
  headers,
  HEADERS,
  RST_STREAM,
  serveFrames,
  SETTINGS,
} from '../../proxy/http2/raw.ts'
import { reservePort } from '../../support/servers/ports.ts'
import { until } from '../../support/until.ts'

const ALICE: RequestOwner = ['acme', 'alice']
const BOB: RequestOwner = ['acme', 'bob']

class Result implements ResponseReceiver {
  readonly owner: RequestOwner
  status = 0
  error: (Error & { code?: string }) | null = null
  begun = false
  readonly over: Promise<void>
  #done = () => {}

  constructor(owner: RequestOwner) {
    this.owner = owner
    this.over = new Promise((resolve) => {
      this.#done = resolve
    })
  }

  connected(): boolean {
    this.begun = true
    return true
  }
  requestProgress(): void {}
  responseStarted(): void {}
  head({ status }: ResponseHead): void {
    this.status = status
  }
  data(): void {}
  ended(): void {
    this.#done()
  }
  failed(error: Error): void {
    this.error = error
    this.#done()
  }
}

function settings(port: number, more: Partial<PoolSettings> = {}): PoolSettings {
  return {
    host: '127.0.0.1',
    port,
    tls: null,
    authority: `127.0.0.1:${port}`,
    http2: true,
    connectTimeout: 60_000,
    bodyTimeout: 60_000,
    keepAlive: 60_000,
    keepAliveMax: 60_000,
    connections: 1,
    uploads: 5,
    evictionDelay: 50,
    ...more,
  }
}

function ask(pool: RequestPool, owner: RequestOwner = ALICE, more: Partial<UpstreamRequest> = {}): Result {
  const result = new Result(owner)
  const request = { method: 'GET', path: '/', headers: [], host: null, body: null, length: null, ...more }
  pool.dispatch(request, result)
  return result
}

/** SETTINGS that permit this number of streams. */
function permitting(streams: number): Buffer {
  return frame(SETTINGS, 0, 0, Buffer.from([0, 3, 0, 0, 0, streams]))
}

t.test('waiting requests are taken by caller in turn, and cancelled ones not at all', async (t) => {
  const { port, connections } = await serveFrames(t, () => {}, permitting(1))
  const pool = new RequestPool(settings(port))
  t.teardown(() => pool.destroy())
  const first = ask(pool)
  await until(() => connections[0]?.count(HEADERS) === 1, 'the request at the upstream')
  const waiting = [ask(pool), ask(pool), ask(pool, BOB)]
  const [second, third, bob] = waiting
  if (second === undefined || third === undefined || bob === undefined) throw new Error('three')
  const cancelled = ask(pool, BOB)
  t.equal(pool.cancel(cancelled), true)
  for (const [i, each] of [first, second, bob, third].entries()) {
    await until(() => connections[0]?.count(HEADERS) === i + 1, 'the next request at the upstream')
    connections[0]?.send(answer(i * 2 + 1))
    await each.over
    t.match(each, { status: 200, error: null })
  }
  t.equal(cancelled.begun, false)
  t.equal(connections.length, 1)
})

t.test(
  'a caller with the most uploads loses its slowest one to another caller; the connection goes on',
  async (t) => {
    const { port, connections } = await serveFrames(t, () => {})
    const pool = new RequestPool(settings(port, { uploads: 3 }))
    t.teardown(() => pool.destroy())
    const upload = (owner: RequestOwner) => {
      const body: Readable & { complete?: boolean } = new Readable({ read() {} })
      return ask(pool, owner, { method: 'POST', body, length: Infinity })
    }
    const held = [upload(ALICE), upload(ALICE), upload(ALICE)]
    await until(() => connections[0]?.count(HEADERS) === 3, 'three requests at the upstream')
    t.equal(pool.uploadsFull, true)
    const bob = upload(BOB)
    await until(() => bob.begun, 'the response to bob')
    const ended = held.filter(({ error }) => error !== null)
    t.match(ended, [{ error: { code: 'DISPLACED' } }])
    t.equal(ended.length, 1)
    await until(() => connections[0]?.count(RST_STREAM) === 1, 'the reset of the stream')
    t.equal(connections.length, 1)
  },
)

t.test('a connection that can not be opened fails all that waits for it', async (t) => {
  const pool = new RequestPool(settings(await reservePort(t)))
  t.teardown(() => pool.destroy())
  const all = Array.from({ length: 20 }, () => ask(pool))
  for (const each of all) {
    await each.over
    t.match(each.error, { code: 'ECONNREFUSED' })
  }
})

t.test('an idle connection is closed in good order', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) => connection.send(answer(stream)))
  const pool = new RequestPool(settings(port, { keepAlive: 20 }))
  t.teardown(() => pool.destroy())
  await ask(pool).over
  await until(() => connections[0]?.socket.readableEnded === true, 'the end of the connection')
  t.equal(connections[0]?.count(GOAWAY), 1)
  await ask(pool).over
  t.equal(connections.length, 2)
})

t.test('a connection that drains is closed when the last request on it moves to another one', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    if (stream === 1) connection.send(answer(stream))
  })
  const pool = new RequestPool(settings(port, { connections: 2 }))
  t.teardown(() => pool.destroy())
  await ask(pool).over
  // A request with a body is written behind the next events of the socket, of which the GOAWAY is one.
  await new Promise((resolve) => setTimeout(resolve, 0))
  connections[0]?.send(goAway(1))
  const body: Readable & { complete?: boolean } = Readable.from([Buffer.from('ab')])
  body.complete = true
  const moved = ask(pool, ALICE, { method: 'POST', body, length: 2 })
  await moved.over
  await until(() => connections[0]?.socket.readableEnded === true, 'the end of the connection')
  await pool.close()
})

t.test('close waits for the requests in flight, destroy ends them', async (t) => {
  const { port, connections } = await serveFrames(t, () => {})
  const pool = new RequestPool(settings(port))
  const first = ask(pool)
  await until(() => connections[0]?.count(HEADERS) === 1, 'the request at the upstream')
  const closed = pool.close()
  connections[0]?.send(answer(1))
  await first.over
  await closed
  t.match(first, { status: 200, error: null })
  const ended = new RequestPool(settings(port))
  const second = ask(ended)
  await until(() => connections[1]?.count(HEADERS) === 1, 'the request on another connection')
  await ended.destroy()
  await second.over
  t.match(second.error, { code: 'CLIENT_CLOSED' })
})

t.test('a connection that ends leaves no timer for the bodies that it awaited', async (t) => {
  const bodyTimeout = 3_600_000
  const timers = new Set<NodeJS.Timeout>()
  const { setTimeout: start, clearTimeout: end } = globalThis
  t.teardown(() => Object.assign(globalThis, { setTimeout: start, clearTimeout: end }))
  Object.assign(globalThis, {
    setTimeout: (run: () => void, ms: number, ...args: []) => {
      const timer = start(run, ms, ...args)
      if (ms >= bodyTimeout) timers.add(timer)
      return timer
    },
    clearTimeout: (timer: NodeJS.Timeout) => {
      timers.delete(timer)
      end(timer)
    },
  })
  const { port, connections } = await serveFrames(t, (connection, stream) =>
    connection.send(headers(stream, [':status', '200'])),
  )
  const pool = new RequestPool(settings(port, { bodyTimeout }))
  t.teardown(() => pool.destroy())
  for (let i = 1; i <= 3; i++) {
    const result = ask(pool)
    await until(() => result.status === 200, 'the head of the response')
    t.equal(timers.size, 1)
    connections.at(-1)?.socket.destroy()
    await result.over
    t.equal(timers.size, 0)
  }
})
