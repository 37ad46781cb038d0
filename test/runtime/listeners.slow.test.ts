/** A gateway with several listeners: their lines, curl and openssl as clients, and certificates that change under load. */

import { execFile } from 'node:child_process'
import { createHash, X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { type GatewayOptions, OperatedGateway } from '../operations/gateway.ts'
import { startService } from '../operations/service.ts'
import { Authority } from '../proxy/authority.ts'
import { until } from './workers/support.ts'

/** RFC 6455, section 1.3. */
const WEB_SOCKET = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'
const run = promisify(execFile)
const authority = new Authority()
const issue = () => authority.issue({ names: ['a.example', '127.0.0.1'] })
const first = issue()
const LISTEN =
  '[{ address: "127.0.0.1:0" }, { address: "127.0.0.1:0", tls: { certificates: [{ cert: a.pem, key: a.key }] } }]'

async function start(t: Test, more: Partial<GatewayOptions> = {}) {
  const { url, server } = await startService(t, 'main', (request, response) => {
    response.end(String(request.headers['x-forwarded-proto']))
  })
  server.on('upgrade', (request, socket) => {
    const accept = createHash('sha1')
      .update(`${request.headers['sec-websocket-key']}${WEB_SOCKET}`)
      .digest('base64')
    socket.on('error', () => {})
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    )
    // A text frame.
    socket.once('data', () => socket.write(`\x81\x05${request.headers['x-forwarded-proto']}`, 'latin1'))
  })
  const files = { 'a.pem': first.cert, 'a.key': first.key, 'ca.pem': authority.cert }
  const gateway = await OperatedGateway.start(t, { targets: [url], listen: LISTEN, files, ...more })
  const ports = [...gateway.log.matchAll(/listening on https:\/\/127\.0\.0\.1:(\d+) \(front door\)/g)].map(
    ([, port = '']) => Number(port),
  )
  return { gateway, ports, port: ports[0] ?? 0 }
}

/** On a connection of its own. */
function get(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = {
      port,
      host: '127.0.0.1',
      servername: 'a.example',
      ca: authority.cert,
      agent: false,
      path: '/docs/a',
    }
    request(options, (response) => {
      let text = `${response.statusCode} `
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
}

/** Of the certificate, one every 200 ms; 300 take a minute. */
const REPLACEMENTS = Number(process.env.SEATGATE_CERTIFICATE_REPLACEMENTS ?? 50)

for (const workers of [1, 2])
  t.test(`workers: ${workers}`, async (t) => {
    const { gateway, port } = await start(t, { top: [`workers: ${workers}`] })

    t.test('curl, plain and over TLS; HTTP/2 with prior knowledge is refused', async (t) => {
      const curl = (...args: string[]) =>
        run('curl', ['-sS', '--max-time', '10', ...args]).then(({ stdout }) => stdout)
      t.equal(await curl(`http://127.0.0.1:${gateway.port}/docs/a`), 'http')
      const ca = ['--cacert', join(gateway.folder, 'ca.pem'), '--resolve', `a.example:${port}:127.0.0.1`]
      t.equal(await curl(...ca, `https://a.example:${port}/docs/a`), 'https')
      t.equal(await curl(...ca, '--http1.1', `https://a.example:${port}/docs/a`), 'https')
      const told = ['-w', ' %{http_code}', '--http2-prior-knowledge']
      t.match(await curl(...told, `http://127.0.0.1:${gateway.port}/docs/a`), /prior knowledge.* 400$/)
      t.equal(await curl(`http://127.0.0.1:${gateway.port}/docs/a`), 'http')
    })

    t.test('openssl: TLS 1.1, an unknown name; one line each', async (t) => {
      const client = (...args: string[]) =>
        run('sh', ['-c', `openssl s_client -connect 127.0.0.1:${port} ${args.join(' ')} </dev/null`]).then(
          () => 'accepted',
          () => 'refused',
        )
      t.equal(await client('-servername a.example'), 'accepted')
      t.equal(await client('-servername a.example -tls1_1 -cipher DEFAULT@SECLEVEL=0'), 'refused')
      t.equal(await client('-servername b.example'), 'refused')
      // Each worker writes its own.
      const lines = () =>
        gateway.remarks
          .filter(({ msg }) => msg === 'a TLS handshake failed: the connection is closed')
          .toSorted((one, other) => String(other.reason).localeCompare(String(one.reason)))
      await until(() => lines().length >= 2)
      t.match(lines(), [
        { reason: 'version', listener: `127.0.0.1:${port}`, peer: '127.0.0.1' },
        { reason: 'server_name', detail: 'b.example', listener: `127.0.0.1:${port}`, peer: '127.0.0.1' },
      ])
      t.equal(await gateway.metric('seatgate_tls_handshakes_failed_total{reason="server_name"}'), 1)
    })

    t.test('sessions are resumed at every worker', async (t) => {
      let session: Buffer | undefined
      for (let i = 0; i < 20; i++) {
        const options = { port, host: '127.0.0.1', ca: authority.cert, servername: 'a.example' }
        const socket = connect(session === undefined ? options : { ...options, session })
        socket.on('session', (bytes) => (session = bytes))
        socket.write('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n')
        await once(socket, 'data')
        t.equal(socket.isSessionReused(), i > 0)
        socket.destroy()
      }
    })

    t.test('a WebSocket over TLS', async (t) => {
      const socket = connect({ port, host: '127.0.0.1', ca: authority.cert, servername: 'a.example' })
      const key = 'dGhlIHNhbXBsZSBub25jZQ=='
      socket.write(
        `GET /docs/ws HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\n\r\n`,
      )
      let text = ''
      socket.on('data', (chunk) => (text += chunk.toString('latin1')))
      await until(() => text.endsWith('\r\n\r\n'))
      t.match(text, /^HTTP\/1\.1 101 /)
      socket.write(Buffer.from('8182000000006869', 'hex'))
      await until(() => text.endsWith('\x81\x05https'))
      socket.destroy()
    })

    t.test('a certificate is replaced every 200 ms, and no request fails', async (t) => {
      let [done, failures, requests] = [false, 0, 0]
      const kept = connect({ port, host: '127.0.0.1', ca: authority.cert, servername: 'a.example' })
      let responses = 0
      kept.on('data', (chunk) => (responses += String(chunk).split('HTTP/1.1 200').length - 1))
      const load = Array.from({ length: 4 }, async () => {
        while (!done) {
          requests++
          if ((await get(port).catch(String)) !== '200 https') failures++
        }
      })
      const reloads = () => gateway.remarks.filter(({ msg }) => msg === 'configuration reloaded').length
      const before = reloads()
      let sent = 0
      for (let i = 0; i < REPLACEMENTS; i++) {
        const { cert, key } = issue()
        gateway.write('a.pem', cert)
        gateway.write('a.key', key)
        gateway.signal('SIGHUP')
        if (i % 10 === 0) kept.write(`GET /docs/${sent++} HTTP/1.1\r\nHost: a\r\n\r\n`)
        await sleep(200)
      }
      await until(() => reloads() > before)
      done = true
      await Promise.all(load)
      await until(() => responses === sent)
      kept.destroy()
      t.ok(requests > 100, `${requests} requests, ${reloads() - before} reloads`)
      t.equal(failures, 0)
    })

    t.test('a faulty certificate is reported, and the one before it serves on', async (t) => {
      const shown = async () => {
        const socket = connect({ port, host: '127.0.0.1', ca: authority.cert, servername: 'a.example' })
        await once(socket, 'secureConnect')
        const { fingerprint256 } = socket.getPeerCertificate()
        socket.destroy()
        return fingerprint256
      }
      const refusals = () => gateway.remarks.filter(({ msg }) => String(msg).startsWith('reload refused'))
      const last = issue()
      gateway.write('a.key', last.key)
      gateway.write('a.pem', last.cert)
      gateway.signal('SIGHUP')
      const wanted = new X509Certificate(last.cert).fingerprint256
      await until(async () => (await shown()) === wanted)
      for (const [name, text, fault] of [
        ['a.pem', 'nothing', /a\.pem" contains no PEM certificate/],
        ['a.key', issue().key, /key: does not match the certificate/],
      ] as const) {
        const count = refusals().length
        gateway.write('a.pem', last.cert)
        gateway.write('a.key', last.key)
        gateway.write(name, text)
        gateway.signal('SIGHUP')
        await until(() => refusals().length > count)
        t.match(String(refusals().at(-1)?.faults), fault)
        t.equal(await shown(), wanted)
        t.equal(await get(port), '200 https')
      }
    })
  })
