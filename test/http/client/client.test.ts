/** The connection pool of a target: one request at a time, keep-alive, and the limit of connections. */

import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { FieldLines } from '../../../src/http/wire/field-lines.ts'
import {
  type ResponseHead,
  type UpstreamRequest,
  NotForwardable,
  type RequestOwner,
  type ResponseReceiver,
} from '../../../src/http/client/upstream-request.ts'
import { type PoolSettings, RequestPool } from '../../../src/http/client/request-pool.ts'
import { serveRaw } from '../../proxy/support.ts'
import { reservePort } from '../../support/servers/ports.ts'
import { poolSettings } from './pool-settings.ts'

class Result implements ResponseReceiver {
  readonly owner: RequestOwner
  status = 0
  body = ''
  error: Error | null = null
  wanted = true
  begun = false
  readonly over: Promise<void>
  #done = () => {}

  constructor(owner: RequestOwner = ['acme', 'alice']) {
    this.owner = owner
    this.over = new Promise((resolve) => {
      this.#done = resolve
    })
  }

  connected(): boolean {
    this.begun = true
    if (!this.wanted) this.#done()
    return this.wanted
  }
  requestProgress(): void {}
  responseStarted(): void {}
  head({ status }: ResponseHead): void {
    this.status = status
  }
  data(chunk: Buffer | string): void {
    this.body += chunk.toString('latin1')
  }
  ended(): void {
    this.#done()
  }
  failed(error: Error): void {
    this.error = error
    this.#done()
  }
}

interface Served {
  readonly client: RequestPool
  readonly sockets: Socket[]
  /** Bytes received on all connections. */
  seen(): string
}

async function served(
  t: Test,
  answer: (socket: Socket, bytes: string) => void,
  settings: Partial<PoolSettings> = {},
): Promise<Served> {
  const sockets: Socket[] = []
  let seen = ''
  const port = await serveRaw(t, (socket) => {
    sockets.push(socket)
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1')
      answer(socket, bytes.toString('latin1'))
    })
  })
  const client = new RequestPool({ ...defaults(port), ...settings })
  t.teardown(() => client.destroy())
  return { client, sockets, seen: () => seen }
}

const defaults = (port: number): PoolSettings => ({ ...poolSettings(port), evictionDelay: 500 })

function get(path = '/', more: Partial<UpstreamRequest> = {}): UpstreamRequest {
  return { method: 'GET', path, headers: [], host: null, body: null, length: null, ...more }
}

function ask(client: RequestPool, request: UpstreamRequest): Result {
  const result = new Result()
  client.dispatch(request, result)
  return result
}

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

t.test('one connection serves sequential requests', async (t) => {
  const { client, sockets } = await served(t, (socket) => socket.write(OK))
  for (let i = 0; i < 5; i++) {
    const result = ask(client, get())
    await result.over
    t.match(result, { status: 200, body: 'ok', error: null })
  }
  t.equal(sockets.length, 1)
})

t.test('requests beyond the limit wait in order', async (t) => {
  const order: string[] = []
  const { client, sockets } = await served(
    t,
    (socket, bytes) => {
      order.push(bytes.split(' ')[1] ?? '')
      setTimeout(() => socket.write(OK), 5)
    },
    { connections: 2 },
  )
  const results = Array.from({ length: 9 }, (_, i) => ask(client, get(`/${i}`)))
  await Promise.all(results.map(({ over }) => over))
  t.equal(sockets.length, 2)
  t.same(order, [...order].sort())
  t.ok(results.every(({ body }) => body === 'ok'))
})

t.test('a cancelled request sends nothing', async (t) => {
  const { client, seen } = await served(t, (socket) => setTimeout(() => socket.write(OK), 20), {
    connections: 1,
  })
  const first = ask(client, get('/first'))
  const second = ask(client, get('/second'))
  const third = ask(client, get('/third'))
  second.wanted = false
  await Promise.all([first.over, second.over, third.over])
  t.match(third, { body: 'ok' })
  t.notMatch(seen(), '/second')
})

t.test('an idle connection is closed at its own timeout or at that of the upstream', async (t) => {
  for (const [keepAlive, answer] of [
    [0, OK],
    [60_000, OK.replace('\r\n\r\n', '\r\nKeep-Alive: timeout=1\r\n\r\n')],
    [60_000, OK.replace('\r\n\r\n', '\r\nConnection: close\r\n\r\n')],
  ] as const) {
    const { client, sockets } = await served(t, (socket) => socket.write(answer), { keepAlive })
    await ask(client, get()).over
    await ask(client, get()).over
    t.equal(sockets.length, 2)
  }
})

t.test('expired connections are closed without a further request', async (t) => {
  const { client, sockets } = await served(t, (socket) => socket.write(OK), { keepAlive: 10 })
  await ask(client, get()).over
  const [socket] = sockets
  if (socket !== undefined) await once(socket, 'close')
  t.equal(socket?.destroyed, true)
})

t.test('no listener: every request fails, and none was begun', async (t) => {
  const client = new RequestPool({ ...defaults(await reservePort(t)), connections: 2 })
  const results = Array.from({ length: 7 }, () => ask(client, get()))
  await Promise.all(results.map(({ over }) => over))
  for (const { error, begun } of results)
    t.match({ error, begun }, { error: { code: 'ECONNREFUSED' }, begun: false })
})

t.test('connect timeout', async (t) => {
  // The accept queue is short, and nothing accepts from it.
  const server = createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 })
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const client = new RequestPool({ ...defaults(port), connectTimeout: 1 })
  t.teardown(() => client.destroy())
  const results = Array.from({ length: 5 }, () => ask(client, get()))
  // The event loop is blocked until all of them are late.
  const until = performance.now() + 20
  while (performance.now() < until);
  await Promise.all(results.map(({ over }) => over))
  t.ok(results.every(({ error }) => error instanceof Error))
})

t.test('bytes that could end a line or the header section are never written', async (t) => {
  const { client, seen } = await served(t, (socket) => socket.write(OK))
  const evil = 'a\r\nX-Evil: b'
  for (const request of [
    get('/', { headers: [FieldLines.of(['x-a', evil])] }),
    get('/', { headers: [FieldLines.of([evil, 'a'])] }),
    get('/', { headers: [FieldLines.of(['', 'a'])] }),
    get('/', { headers: [FieldLines.of(['x-a', 'a\nb'])] }),
    get('/', { headers: [FieldLines.of(['x-a', 'a\0b'])] }),
    get('/', { headers: [FieldLines.of(['x-a', 'a\u0100b'])] }),
    get('/', { host: evil }),
    get('/ HTTP/1.1\r\nX-Evil: b\r\n'),
    get('/ HTTP/1.1\r\nX-Evil: b'),
    get('/', { headers: [FieldLines.of(['x-a: b\r\nX-Evil', 'b'])] }),
    get('/', { method: 'GET / HTTP/1.1\r\nX-Evil: b\r\nX-B:' }),
    get('not-a-path'),
    get('/ä'),
    get('/', { method: 'GET /evil' }),
    get('/', { method: '' }),
  ]) {
    const result = ask(client, request)
    await result.over
    t.ok(result.error instanceof NotForwardable, JSON.stringify(request))
  }
  await ask(client, get('/good')).over
  t.match(seen(), /^GET \/good HTTP\/1\.1\r\nhost: 127\.0\.0\.1:\d+\r\n\r\n$/)
})

t.test(
  'the client frames bodies, and a body that differs from the announced length closes the connection',
  async (t) => {
    const body = (...parts: string[]) => Readable.from(parts.map((part) => Buffer.from(part)))
    const whole = async (request: UpstreamRequest) => {
      const { client, seen } = await served(t, (socket, bytes) => {
        if (bytes.endsWith('\r\n\r\n') || bytes.endsWith('de')) socket.write(OK)
      })
      const result = ask(client, { ...request, method: 'POST' })
      await result.over
      return { result, text: seen().split('\r\n').slice(2).join('\n') }
    }
    const chunks = await whole(get('/', { body: body('abc', 'de'), length: Infinity }))
    t.equal(chunks.text, 'transfer-encoding: chunked\n\n3\nabc\n2\nde\n0\n\n')
    const sized = await whole(get('/', { body: body('abc', 'de'), length: 5 }))
    t.equal(sized.text, 'content-length: 5\n\nabcde')
    for (const length of [4, 6]) {
      const { result, text } = await whole(get('/', { body: body('abc', 'de'), length }))
      t.ok(length === 6 || result.error !== null)
      t.notMatch(text, 'abcdef')
    }
    t.match((await whole(get('/', { length: 0 }))).text, /^content-length: 0\n\n$/)
  },
)

t.test('close waits for requests in flight; destroy does not', async (t) => {
  const { client, sockets } = await served(t, (socket, bytes) => {
    if (bytes.includes('/slow')) setTimeout(() => socket.write(OK), 50)
  })
  const slow = ask(client, get('/slow'))
  await client.close()
  t.equal(slow.body, 'ok')
  const { client: other } = await served(t, () => {})
  const never = ask(other, get('/never'))
  await new Promise((resolve) => setImmediate(resolve))
  await other.destroy()
  await never.over
  t.match(never.error, { code: 'CLIENT_CLOSED' })
  t.equal(sockets.length, 1)
})

t.test('destroy while a request with a body waits to be written: it opens no connection', async (t) => {
  const { client, sockets } = await served(t, (socket) => socket.write(OK))
  await ask(client, get()).over
  const upload = ask(client, get('/upload', { method: 'POST', body: Readable.from(['ab']), length: 2 }))
  await client.destroy()
  await upload.over
  t.match(upload, { begun: false, error: { code: 'CLIENT_CLOSED' } })
  // It would be opened by now.
  const { client: other } = await served(t, (socket) => socket.write(OK))
  await ask(other, get()).over
  t.equal(sockets.length, 1)
})
