/** TLS of a listener: versions, names, ALPN, and the parser behind it. */

import { once } from 'node:events'
import { connect as connectTcp } from 'node:net'
import t from 'tap'
import { acceptor, ask, certificate, openSecured, secure } from './tls-support.ts'
import { until } from '../../support/until.ts'

const a = certificate(['a.example'])
const wildcard = certificate(['*.wild.example', 'wild.example'])
const exact = certificate(['exact.wild.example'])

/** The names of the certificate that a server shows. */
async function shown(port: number, servername: string): Promise<string> {
  const socket = await secure(port, { servername, rejectUnauthorized: false })
  const { subjectaltname = '' } = socket.getPeerCertificate()
  socket.destroy()
  return subjectaltname
}

t.test('the certificate that has the name: exact before wildcard, without case', async (t) => {
  const { port } = await openSecured(t, acceptor([a, wildcard, exact]))
  t.equal(await shown(port, 'a.example'), 'DNS:a.example')
  t.equal(await shown(port, 'A.Example'), 'DNS:a.example')
  t.equal(await shown(port, 'x.wild.example'), 'DNS:*.wild.example, DNS:wild.example')
  t.equal(await shown(port, 'wild.example'), 'DNS:*.wild.example, DNS:wild.example')
  t.equal(await shown(port, 'Exact.Wild.example'), 'DNS:exact.wild.example')
  t.equal(await shown(port, ''), 'DNS:a.example', 'no name: the first')
})

t.test('an unknown name is refused', async (t) => {
  const { port, failed } = await openSecured(t, acceptor([a, wildcard]))
  const names = ['b.example', 'x.y.wild.example', 'example', '__proto__', 'a.example.evil.example']
  for (const servername of names) {
    t.match(await ask(port, { servername, rejectUnauthorized: false }), /ECONNRESET|closed|EPROTO/)
    t.match(failed.at(-1), { reason: 'server_name', detail: servername, peer: '127.0.0.1' })
  }
  t.equal(failed.length, names.length, 'one report each')
  t.match(await ask(port), /^HTTP\/1\.1 200 /, 'the listener goes on')
})

t.test('TLS 1.1 is refused, and 1.2 where 1.3 is the minimum', async (t) => {
  const { port, failed } = await openSecured(t, acceptor([a]))
  const old = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const
  t.match(await ask(port, old), /protocol version|EPROTO/)
  t.match(failed, [{ reason: 'version', listener: `127.0.0.1:${port}` }])
  t.match(await ask(port, { maxVersion: 'TLSv1.2' }), /^HTTP\/1\.1 200 /)
  const strict = await openSecured(t, acceptor([a], { minVersion: '1.3' }))
  t.match(await ask(strict.port, { maxVersion: 'TLSv1.2' }), /protocol version/)
  t.match(strict.failed, [{ reason: 'version' }])
  t.match(await ask(strict.port), /^HTTP\/1\.1 200 /)
  t.match(strict.completed, [{ version: 'TLSv1.3', resumed: false }])
})

t.test('ALPN: http/1.1, and h2 where it is configured', async (t) => {
  const { port, failed } = await openSecured(t, acceptor([a], {}, false))
  const both = await secure(port, { ALPNProtocols: ['h2', 'http/1.1'] })
  t.equal(both.alpnProtocol, 'http/1.1')
  both.end()
  t.match(await ask(port, { ALPNProtocols: ['h2'] }), /no application protocol/)
  t.match(failed, [{ reason: 'alpn' }])
  const { port: second } = await openSecured(t, acceptor([a], {}, true))
  const h2 = await secure(second, { ALPNProtocols: ['h2', 'http/1.1'] })
  t.equal(h2.alpnProtocol, 'h2')
  h2.destroy()
  t.match(await ask(second, { ALPNProtocols: ['http/1.1'] }), /^HTTP\/1\.1 200 /)
})

t.test('plain HTTP, garbage and probes', async (t) => {
  const { port, failed, listener } = await openSecured(t, acceptor([a]))
  for (const bytes of [
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    '\0'.repeat(100),
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ]) {
    const socket = connectTcp(port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end(bytes)
    socket.resume()
    await once(socket, 'close')
  }
  await until(() => failed.length === 3, 'three failed handshakes')
  t.equal(failed[0]?.reason, 'not_tls')
  const probe = connectTcp(port, '127.0.0.1')
  await once(probe, 'connect')
  probe.destroy()
  await until(() => failed.length === 4, 'four failed handshakes')
  t.equal(failed[3]?.reason, 'closed')
  await until(() => listener.connections.opening === 0, 'the end of the handshakes')
})

t.test('a large body, a large response, and many requests of one connection', async (t) => {
  const { port } = await openSecured(t, acceptor([a]))
  const size = 3 * 1024 * 1024
  const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`
  t.match(await ask(port, {}, head + 'a'.repeat(size)), new RegExp(`${size} bytes$`))
  const socket = await secure(port)
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  for (let i = 0; i < 20; i++) socket.write(`GET /${i} HTTP/1.1\r\nHost: a\r\n\r\n`)
  await until(() => text.endsWith('/19'), 'the last response')
  t.equal(text.match(/HTTP\/1\.1 200/g)?.length, 20)
  socket.destroy()
})
