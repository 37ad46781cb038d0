/** Sessions, client certificates, the PROXY protocol, limits and the end of connections, over TLS. */

import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls'
import t from 'tap'
import type { ListenerTls } from '../../../src/config/config.ts'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { TlsAcceptor } from '../../../src/http/server/tls-acceptor.ts'
import { Authority } from '../../proxy/authority.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { acceptor, ask, authority, certificate, openSecured, SECRETS, secure, USUAL } from './tls-support.ts'
import { until } from '../../support/until.ts'

const a = certificate(['a.example'])
const clients = new Authority('Clients')
const client = clients.issue({ names: ['someone'] })
const DAY = 86_400_000
const NOW = Date.now()
const expired = clients.issue({
  names: ['late'],
  notBefore: new Date(NOW - 9 * DAY),
  notAfter: new Date(NOW - DAY),
})
const foreign = new Authority('Other clients').issue({ names: ['stranger'] })
const VERSIONS = ['TLSv1.2', 'TLSv1.3'] as const

/** One request; the ticket that came with it, and whether the session was resumed. */
async function visit(
  port: number,
  options: ConnectionOptions = {},
): Promise<{ session: Buffer | undefined; resumed: boolean }> {
  const socket: TLSSocket = connect({
    port,
    host: '127.0.0.1',
    ca: authority.cert,
    servername: 'a.example',
    ...options,
  })
  let session: Buffer | undefined
  socket.on('session', (bytes) => (session = bytes))
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(socket, 'data')
  const resumed = socket.isSessionReused()
  socket.destroy()
  return { session, resumed }
}

for (const maxVersion of VERSIONS)
  t.test(`sessions, ${maxVersion}`, async (t) => {
    // Each second, a listener makes the keys those of the current day.
    holdTime(t)
    const settings: ListenerTls = { certificates: [a], ...USUAL }
    const of = (secrets = SECRETS, now = NOW) =>
      new TlsAcceptor({ tls: settings, http2: false, secrets }, now)
    const { port, completed } = await openSecured(t, of())
    const { session } = await visit(port, { maxVersion })
    t.test('are resumed by another process with the same secrets', async (t) => {
      const other = await openSecured(t, of())
      t.equal((await visit(other.port, { maxVersion, session })).resumed, true)
      t.match(other.completed, [{ version: maxVersion, resumed: true }])
    })
    t.test('not with other secrets, nor with those of another day', async (t) => {
      const others = await openSecured(t, of([Buffer.alloc(32, 'other')]))
      t.equal((await visit(others.port, { maxVersion, session })).resumed, false)
      const yesterday = of(SECRETS, NOW - DAY)
      const { port: before } = await openSecured(t, yesterday)
      t.equal((await visit(before, { maxVersion, session })).resumed, false)
      yesterday.rotate(NOW)
      t.equal((await visit(before, { maxVersion, session })).resumed, true, 'its day has come')
    })
    t.test('not where client certificates are checked', async (t) => {
      const tls = { clientCa: clients.cert, clientAuth: 'require' } as const
      const checked = await openSecured(t, acceptor([a], tls))
      t.match(
        await ask(checked.port, { maxVersion, session }),
        /required|HANDSHAKE|alert|closed|ECONNRESET|EPIPE/i,
      )
      const mine = await visit(checked.port, { maxVersion, ...client })
      t.equal((await visit(checked.port, { maxVersion, ...client, session: mine.session })).resumed, false)
      t.equal(checked.failed[0]?.reason, 'client_certificate')
    })
    t.match(completed, [{ version: maxVersion, resumed: false }])
  })

for (const maxVersion of VERSIONS)
  t.test(`client_ca may be an authority that another one has issued, ${maxVersion}`, async (t) => {
    const root = new Authority('Root of clients')
    const [mine, sibling] = [new Authority('Mine', root), new Authority('Sibling', root)]
    const named = certificate(['b.example'])
    const statusOf = async (clientCa: string, from: Authority, servername: string) => {
      const { port } = await openSecured(t, acceptor([a, named], { clientCa, clientAuth: 'require' }))
      const options = { maxVersion, servername, checkServerIdentity: () => undefined } as const
      return ask(port, { ...options, ...from.issue({ names: ['someone'] }) })
    }
    const refused = /required|HANDSHAKE|alert|closed|ECONNRESET|EPIPE/i
    for (const name of ['a.example', 'b.example', '']) {
      t.match(await statusOf(mine.cert, mine, name), /^HTTP\/1\.1 200/, name)
      t.match(await statusOf(mine.cert, sibling, name), refused, 'a sibling')
      t.match(await statusOf(mine.cert, root, name), refused, 'of the root itself')
      t.match(await statusOf(root.cert, sibling, name), /^HTTP\/1\.1 200/, 'the root admits both')
    }
  })

t.test('without secrets the keys are random', async (t) => {
  const settings: ListenerTls = { certificates: [a], ...USUAL }
  const of = () => new TlsAcceptor({ tls: settings, http2: false, secrets: [] })
  const { session } = await visit((await openSecured(t, of())).port)
  t.equal((await visit((await openSecured(t, of())).port, { session })).resumed, false)
})

for (const clientAuth of ['request', 'require'] as const)
  for (const maxVersion of VERSIONS)
    t.test(`client_auth: ${clientAuth}, ${maxVersion}`, async (t) => {
      const { port, failed } = await openSecured(t, acceptor([a], { clientCa: clients.cert, clientAuth }))
      t.match(await ask(port, { maxVersion, ...client }), /^HTTP\/1\.1 200 /)
      const without = await ask(port, { maxVersion })
      if (clientAuth === 'request') t.match(without, /^HTTP\/1\.1 200 /)
      else t.notMatch(without, /^HTTP/)
      for (const [identity, detail] of [
        [expired, /EXPIRED/],
        [foreign, /UNABLE_TO|CERT_SIGNATURE|SELF_SIGNED/],
        [authority.issue({ names: ['a.example'] }), /UNABLE_TO|CERT_SIGNATURE|SELF_SIGNED/],
      ] as const) {
        const before = failed.length
        t.notMatch(await ask(port, { maxVersion, ...identity }), /^HTTP/)
        await until(() => failed.length > before, 'the failed handshake')
        t.match(failed.at(-1), { reason: 'client_certificate', detail, peer: '127.0.0.1' })
        t.equal(failed.length, before + 1, 'one report')
      }
    })

t.test('PROXY protocol, then TLS: whole, and in pieces', async (t) => {
  const { port, failed } = await openSecured(t, acceptor([a, certificate(['b.example'])]), {
    settings: { proxyProtocol: true, trusts: () => true },
    handle: (request, response) => {
      response.shouldKeepAlive = false
      return tellPeer(request, response)
    },
  })
  for (const pieces of [1, 20, 200]) {
    const below = connectTcp(port, '127.0.0.1')
    below.write('PROXY TCP4 203.0.113.7 203.0.113.1 4711 443\r\n'.slice(0, pieces))
    await new Promise(setImmediate)
    below.write('PROXY TCP4 203.0.113.7 203.0.113.1 4711 443\r\n'.slice(pieces))
    const socket = connect({ socket: below, ca: authority.cert, servername: 'b.example' })
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const [text] = await once(socket, 'data')
    t.match(String(text), '203.0.113.7:4711 true')
    socket.destroy()
  }
  const unknown = connectTcp(port, '127.0.0.1')
  unknown.write('PROXY TCP4 203.0.113.7 203.0.113.1 4711 443\r\n')
  const refused = connect({ socket: unknown, ca: authority.cert, servername: 'c.example' })
  refused.on('error', () => {})
  await once(refused, 'close').catch(() => {})
  t.match(failed.at(-1), { reason: 'server_name', peer: '203.0.113.7' }, 'the client, not the balancer')
})

t.test('limits count all listeners together', async (t) => {
  const { listener, port } = await openSecured(t, [acceptor([a]), null], { limits: { connections: 2 } })
  const [, plain] = listener.addresses
  const silent = [connectTcp(port, '127.0.0.1'), connectTcp(plain?.port ?? 0, '127.0.0.1')]
  for (const socket of silent) socket.on('error', () => {})
  await until(() => listener.connections.opening === 2, 'the connections')
  t.match(await ask(port), /^HTTP\/1\.1 200 /, 'an opening one gives way')
  for (const socket of silent) socket.destroy()
})

t.test('a handshake that does not end', async (t) => {
  const time = holdTime(t)
  const { port, failed, listener } = await openSecured(t, acceptor([a]), { limits: { headerTimeout: 1000 } })
  const socket = connectTcp(port, '127.0.0.1')
  socket.on('error', () => {})
  socket.write(Buffer.from('160301020001', 'hex'))
  socket.resume()
  await untilStepped(time, () => socket.destroyed)
  t.match(failed, [{ reason: 'timeout' }])
  t.equal(listener.connections.opening, 0)
})

t.test('after the handshake a header section has its time', async (t) => {
  const time = holdTime(t)
  const { port, completed } = await openSecured(t, acceptor([a]), { limits: { headerTimeout: 1000 } })
  const socket = await secure(port)
  let answered = ''
  socket.on('data', (chunk) => (answered += String(chunk)))
  await new Promise((resolve) => socket.write('GET / HTTP/1.1\r\nHo', resolve))
  await until(() => completed.length === 1, 'the handshake')
  await untilStepped(time, () => answered !== '')
  t.match(answered, /^HTTP\/1\.1 408 /)
  socket.destroy()
})

t.test('a malformed request is refused, and the rest of it discarded', async (t) => {
  const { port, listener } = await openSecured(t, acceptor([a]))
  t.match(
    await ask(port, {}, `GET / HTTP/1.1\r\nHost : a\r\n\r\n${'a'.repeat(1_000_000)}`),
    /^HTTP\/1\.1 400 /,
  )
  await until(() => listener.connections.lingering === 0, 'the end of the lingering connections')
})

t.test('garbage inside TLS, resets and renegotiation do no harm', async (t) => {
  const { port, listener } = await openSecured(t, acceptor([a]))
  for (let i = 0; i < 20; i++) {
    const below = connectTcp(port, '127.0.0.1')
    const socket = connect({ socket: below, ca: authority.cert, servername: 'a.example' })
    socket.on('error', () => {})
    below.on('error', () => {})
    await once(socket, 'secureConnect')
    if (i % 2 === 0) below.resetAndDestroy()
    else below.write(Buffer.from('1703030005deadbeef00', 'hex'))
    await once(socket, 'close').catch(() => {})
  }
  const socket = await secure(port, { maxVersion: 'TLSv1.2' })
  const refused = once(socket, 'error')
  socket.renegotiate({}, () => {})
  t.match(String(await refused.catch((error: Error) => error)), /no renegotiation/)
  socket.destroy()
  await until(
    () => Object.values(listener.connections).every((count) => count === 0),
    'the end of all connections',
  )
  t.match(await ask(port), /^HTTP\/1\.1 200 /)
})

t.test('a drain ends connections over TLS', async (t) => {
  const { port, listener } = await openSecured(t, acceptor([a]))
  const idle = await secure(port)
  idle.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await once(idle, 'data')
  const ended = once(idle, 'close')
  idle.resume()
  await Promise.all([listener.close(2000), ended])
})

/** Answers with the address of the client, and whether the request came over TLS. */
function tellPeer(...[request, response]: Parameters<typeof import('./tls-support.ts').answer>) {
  const { socket } = request
  const text = `${socket.remoteAddress}:${socket.remotePort} ${'encrypted' in socket}`
  response.writeHead(200, ResponseFields.of(['Content-Length', String(text.length)]))
  response.end(text)
  return new Exchange(request, response, 'id', 0)
}
