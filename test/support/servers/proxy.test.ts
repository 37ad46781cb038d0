/** The line between a client and a server, cut, held and slowed: each seen from both ends. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { Redis } from 'ioredis'
import t, { type Test } from 'tap'
import { startTcpProxy } from './proxy.ts'
import { startRedis } from './redis.ts'
import { until } from '../until.ts'

/** Gives back what it gets. `sockets`: those open now. */
async function startEcho(t: Test): Promise<{ port: number; sockets: Set<Socket> }> {
  const sockets = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).on('close', () => sockets.delete(socket))
    socket.pipe(socket)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, sockets }
}

class Caller {
  readonly socket: Socket
  readonly chunks: Buffer[] = []
  code: string | undefined

  /** @param allowHalfOpen goes on when the other side has ended, which most clients don't */
  constructor(t: Test, port: number, allowHalfOpen = false) {
    this.socket = connect({ port, host: '127.0.0.1', allowHalfOpen })
    this.socket.on('data', (bytes) => this.chunks.push(bytes as Buffer))
    this.socket.on('error', (error: NodeJS.ErrnoException) => {
      this.code = error.code
    })
    t.teardown(() => this.socket.destroy())
  }

  get got(): string {
    return Buffer.concat(this.chunks).toString('latin1')
  }

  async says(text: string): Promise<string> {
    const wanted = this.got + text
    this.socket.write(text, 'latin1')
    await until(
      () => this.got === wanted,
      () => `got ${this.got}`,
    )
    return this.got
  }

  /** How the connection ended. */
  async ended(): Promise<string | undefined> {
    if (!this.socket.destroyed) await once(this.socket, 'close').catch(() => {})
    return this.code
  }
}

/** Another line of as many sockets: what is sent before, and not held, arrives before its third answer. */
async function beside(t: Test, server: { readonly port: number }): Promise<() => Promise<void>> {
  const proxy = await startTcpProxy(t, server)
  const caller = new Caller(t, proxy.port)
  await caller.says('0')
  return async () => {
    for (const text of '123') await caller.says(text)
  }
}

t.test('passes bytes both ways, as many as come, and the end of each way', async (t) => {
  const proxy = await startTcpProxy(t, await startEcho(t))
  const caller = new Caller(t, proxy.port, true)
  const bytes = randomBytes(8 * 1024 * 1024)
  caller.socket.end(bytes)
  await once(caller.socket, 'end')
  t.ok(Buffer.concat(caller.chunks).equals(bytes))
})

t.test('cut: what is connected is ended, what comes is refused; healed: the same port', async (t) => {
  const echo = await startEcho(t)
  const proxy = await startTcpProxy(t, echo)
  const caller = new Caller(t, proxy.port)
  await caller.says('hello')
  await proxy.cut()
  t.equal(await caller.ended(), undefined)
  await until(
    () => echo.sockets.size === 0,
    () => 'the server has a connection still',
  )
  t.equal(await new Caller(t, proxy.port).ended(), 'ECONNREFUSED')
  await proxy.heal()
  t.equal(await new Caller(t, proxy.port).says('again'), 'again')
})

t.test('frozen: accepts and passes nothing; healed: all arrives in order', async (t) => {
  const echo = await startEcho(t)
  const proxy = await startTcpProxy(t, echo)
  const others = await beside(t, echo)
  const before = new Caller(t, proxy.port)
  await before.says('one ')
  proxy.freeze()
  before.socket.write('two ')
  before.socket.write('three')
  const after = new Caller(t, proxy.port)
  await once(after.socket, 'connect')
  after.socket.write('four')
  await others()
  t.equal(before.got, 'one ')
  t.equal(after.got, '')
  await proxy.heal()
  await until(
    () => before.got === 'one two three' && after.got === 'four',
    () => `got ${before.got} and ${after.got}`,
  )
})

t.test('frozen: the server does not learn that a client has gone, until healed', async (t) => {
  const echo = await startEcho(t)
  const proxy = await startTcpProxy(t, echo)
  const others = await beside(t, echo)
  const callers = [new Caller(t, proxy.port), new Caller(t, proxy.port)]
  for (const caller of callers) await caller.says('hello')
  proxy.freeze()
  callers[0]?.socket.resetAndDestroy()
  callers[1]?.socket.destroy()
  await others()
  t.equal(echo.sockets.size, 3, 'these two, and the one beside them')
  await proxy.heal()
  await until(
    () => echo.sockets.size === 1 && proxy.connections === 0,
    () => `${echo.sockets.size} connections are left`,
  )
})

t.test('connections killed: the next one gets through', async (t) => {
  const proxy = await startTcpProxy(t, await startEcho(t))
  const caller = new Caller(t, proxy.port)
  await caller.says('hello')
  proxy.killConnections()
  t.equal(await caller.ended(), undefined)
  t.equal(await new Caller(t, proxy.port).says('again'), 'again')
})

t.test('delayed: no sooner than asked, in order also when the delay shrinks', async (t) => {
  const echo = await startEcho(t)
  const proxy = await startTcpProxy(t, echo)
  const others = await beside(t, echo)
  const caller = new Caller(t, proxy.port)
  await caller.says('a')
  proxy.delay(100)
  const begin = performance.now()
  await caller.says('b')
  t.ok(performance.now() - begin >= 200, 'there and back')
  caller.socket.write('c')
  await others()
  proxy.delay(0)
  caller.socket.write('d')
  await until(
    () => caller.got.length === 4,
    () => `got ${caller.got}`,
  )
  t.equal(caller.got, 'abcd')
})

t.test('nobody behind it: what connects is ended', async (t) => {
  const server = await startRedis(t)
  const proxy = await startTcpProxy(t, server)
  await server.stop()
  t.equal(await new Caller(t, proxy.port).ended(), undefined)
})

t.test('parts one client from Redis, and not another', async (t) => {
  const server = await startRedis(t)
  const proxy = await startTcpProxy(t, server)
  const open = (port: number) => new Redis(port, '127.0.0.1').on('error', () => {})
  const [near, far] = [open(server.port), open(proxy.port)]
  t.teardown(() => [near, far].map((client) => client.disconnect()))
  await far.set('a', '1')
  proxy.freeze()
  let answered = false
  const asked = far.get('a').finally(() => {
    answered = true
  })
  for (let turn = 0; turn < 3; turn++) t.equal(await near.get('a'), '1')
  t.equal(answered, false)
  await proxy.heal()
  t.equal(await asked, '1')
})
