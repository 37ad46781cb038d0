/** TLS sessions with targets are resumed, and only where the certificate would be accepted again. */

import { once } from 'node:events'
import { createServer, type SecureVersion, type TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { openSocket, type TlsOptions, tlsOptions } from '../../../src/http/client/connector.ts'
import { Authority, type Identity } from '../../proxy/authority.ts'
import { listen } from '../../support/listen.ts'

const authority = new Authority()
const HOUR = 3_600_000
const ticketKeys = Buffer.alloc(48, 7)

function serve(t: Test, identity: Identity, version: SecureVersion): Promise<number> {
  const server = createServer(
    { ...identity, ticketKeys, minVersion: version, maxVersion: version },
    (socket) => {
      socket.on('error', () => {})
      socket.end('hello')
    },
  )
  return listen(t, server)
}

interface Met {
  readonly resumed: boolean
  readonly authorized: boolean
}

/** One connection to its end, by which its tickets have arrived. */
async function meet(port: number, tls: TlsOptions, host = 'localhost'): Promise<Met | string> {
  const socket = openSocket({ host, port, tls }) as TLSSocket
  const seen = new Promise<Met | string>((resolve) => {
    socket.once('secureConnect', () =>
      resolve({ resumed: socket.isSessionReused(), authorized: socket.authorized }),
    )
    socket.once('error', (error: Error & { code?: string }) => resolve(error.code ?? error.message))
  })
  socket.resume()
  await once(socket, 'close').catch(() => {})
  return seen
}

const FULL = { resumed: false, authorized: true }
const RESUMED = { resumed: true, authorized: true }
const names = ['localhost', '127.0.0.1']

for (const version of ['TLSv1.2', 'TLSv1.3'] as const)
  t.test(version, async (t) => {
    const identity = authority.issue({ names })
    const trusting = () => tlsOptions({ ca: authority.cert })

    t.test('a session is resumed, and still authorized', async (t) => {
      const port = await serve(t, identity, version)
      const tls = trusting()
      t.same(await meet(port, tls), FULL)
      for (let i = 0; i < 3; i++) t.same(await meet(port, tls), RESUMED)
    })

    t.test('of the same target, name and settings only', async (t) => {
      const port = await serve(t, identity, version)
      const other = await serve(t, identity, version)
      const tls = trusting()
      t.same(await meet(port, tls), FULL)
      t.same(await meet(other, tls), FULL, 'another target')
      t.same(await meet(port, tls, '127.0.0.1'), FULL, 'another name')
      t.same(await meet(port, trusting()), FULL, 'a reload builds the settings anew')
      t.type(await meet(port, tlsOptions({ ca: new Authority('Other').cert })), 'string', 'refused')
    })

    t.test('none of a handshake that was refused, or did not check', async (t) => {
      const port = await serve(t, authority.issue({ names: ['elsewhere.example'] }), version)
      const tls = trusting()
      for (let i = 0; i < 3; i++) t.equal(await meet(port, tls), 'ERR_TLS_CERT_ALTNAME_INVALID')
      const unchecked = tlsOptions({ ca: authority.cert, insecureSkipVerify: true })
      for (let i = 0; i < 2; i++) t.same(await meet(port, unchecked), { resumed: false, authorized: false })
    })

    t.test('not after the certificate has expired', async (t) => {
      const notAfter = new Date(Date.now() + HOUR)
      const port = await serve(t, authority.issue({ names, notAfter }), version)
      const tls = trusting()
      t.same(await meet(port, tls), FULL)
      t.same(await meet(port, tls), RESUMED)
      const { now } = Date
      t.teardown(() => {
        Date.now = now
      })
      Date.now = () => now() + 2 * HOUR
      t.same(await meet(port, tls), FULL, 'OpenSSL has the real clock')
    })

    t.test('not five minutes after the certificate was checked', async (t) => {
      const port = await serve(t, identity, version)
      const tls = trusting()
      t.same(await meet(port, tls), FULL)
      const { performance } = globalThis
      const now = performance.now.bind(performance)
      t.teardown(() => {
        performance.now = now
      })
      performance.now = () => now() + HOUR / 20
      t.same(await meet(port, tls), RESUMED)
      performance.now = () => now() + HOUR / 10
      t.same(await meet(port, tls), FULL, 'a resumption does not extend it')
    })
  })
