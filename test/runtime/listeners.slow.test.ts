/** A gateway with several listeners: their lines, curl and openssl as clients, and certificates that change under load. */

import { execFile } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { request } from 'node:https'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from 'node:tls'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { startService } from '../operations/service.ts'
import { Authority } from '../proxy/authority.ts'
import { writeConfiguration } from '../support/configuration.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { handshake, switching } from '../websocket/support.ts'

const run = promisify(execFile)
const authority = new Authority()
const issue = () => authority.issue({ names: ['a.example', '127.0.0.1'] })
const first = issue()
const CERTIFICATES = 'certificates: [{ cert: a.pem, key: a.key }]'
const LISTEN = `[
  { address: "127.0.0.1:0" },
  { address: "127.0.0.1:0", tls: { ${CERTIFICATES} } },
  { address: "127.0.0.1:0", tls: { ${CERTIFICATES}, client_ca: clients.pem, client_auth: require } },
]`
/** Authority of the clients of the last one. */
const clients = new Authority('Clients')

async function start(t: Test, workers: number) {
  const { url, server } = await startService(t, 'main', (request, response) => {
    response.end(String(request.headers['x-forwarded-proto']))
  })
  server.on('upgrade', (request, socket) => {
    socket.on('error', () => {})
    socket.write(switching(String(request.headers['sec-websocket-key'])))
    // A text frame.
    socket.once('data', () => socket.write(`\x81\x05${request.headers['x-forwarded-proto']}`, 'latin1'))
  })
  const folder = serverFolder(t, 'listeners')
  writeConfiguration(folder, { target: url, listen: LISTEN, top: [`workers: ${workers}`] })
  const write = (name: string, text: string) => writeFileSync(join(folder, name), text)
  write('a.pem', first.cert)
  write('a.key', first.key)
  write('ca.pem', authority.cert)
  write('clients.pem', clients.cert)
  const gateway = await startGatewayProcess(t, { folder })
  const ports = gateway.log.matchAll(/listening on https:\/\/127\.0\.0\.1:(\d+) \(front door\)/g)
  const [port = NaN, checked = NaN] = [...ports].map(([, port]) => Number(port))
  return { gateway, write, port, checked }
}

const secure = (port: number) => ({
  port,
  host: '127.0.0.1',
  servername: 'a.example',
  ca: authority.cert,
})

/** On a connection of its own. */
function get(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    request({ ...secure(port), agent: false, path: '/docs/a' }, (response) => {
      let text = `${response.statusCode} `
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
    })
      .on('error', reject)
      .end()
  })
}

type Started = Awaited<ReturnType<typeof start>>

const REPLACEMENTS = 15

async function replacedUnderLoad(t: Test, { gateway, write, port }: Started): Promise<void> {
  let [done, failures, requests] = [false, 0, 0]
  const kept = connect(secure(port))
  t.teardown(() => (done = true))
  let responses = 0
  kept.on('data', (chunk) => (responses += String(chunk).split('HTTP/1.1 200').length - 1))
  const load = Array.from({ length: 4 }, async () => {
    while (!done) {
      requests++
      if ((await get(port).catch(String)) !== '200 https') failures++
    }
  })
  const reloads = () => gateway.lines().filter(({ msg }) => msg === 'configuration reloaded').length
  const before = reloads()
  let sent = 0
  for (let i = 0; i < REPLACEMENTS; i++) {
    const { cert, key } = issue()
    write('a.pem', cert)
    write('a.key', key)
    gateway.signal('SIGHUP')
    if (i % 10 === 0) kept.write(`GET /docs/${sent++} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await sleep(100)
  }
  await until(() => reloads() > before, 'a reload')
  await until(() => requests > 50, '50 requests')
  done = true
  await Promise.all(load)
  await until(() => responses === sent, 'the responses on the kept connection')
  kept.destroy()
  t.comment(`${requests} requests, ${reloads() - before} reloads`)
  t.equal(failures, 0)
}

t.test('one process: a certificate is replaced under load, and no request fails', async (t) =>
  replacedUnderLoad(t, await start(t, 1)),
)

t.test('two processes', async (t) => {
  const started = await start(t, 2)
  const { gateway, write, port } = started

  t.test('curl, plain and over TLS; HTTP/2 with prior knowledge is refused', async (t) => {
    const curl = (...args: string[]) =>
      run('curl', ['-sS', '--max-time', '10', ...args]).then(({ stdout }) => stdout)
    t.equal(await curl(`http://127.0.0.1:${gateway.port}/docs/a`), 'http')
    const ca = ['--cacert', join(gateway.folder, 'ca.pem'), '--resolve', `a.example:${port}:127.0.0.1`]
    t.equal(await curl(...ca, `https://a.example:${port}/docs/a`), 'https')
    t.equal(await curl(...ca, '--http1.1', `https://a.example:${port}/docs/a`), 'https')
    const told = ['-w', ' %{http_code}', '--http2-prior-knowledge']
    t.match(await curl(...told, `http://127.0.0.1:${gateway.port}/docs/a`), /prior knowledge.*\n 400$/)
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
      gateway
        .lines()
        .filter(({ msg }) => msg === 'a TLS handshake failed: the connection is closed')
        .toSorted((one, other) => String(other.reason).localeCompare(String(one.reason)))
    await until(() => lines().length >= 2, 'a line for each')
    t.match(lines(), [
      { reason: 'version', listener: `127.0.0.1:${port}`, peer: '127.0.0.1' },
      { reason: 'server_name', detail: 'b.example', listener: `127.0.0.1:${port}`, peer: '127.0.0.1' },
    ])
    const failed = 'seatgate_tls_handshakes_failed_total{reason="server_name"}'
    // A worker that reports late is left out.
    await until(async () => (await gateway.metric(failed)) === 1, 'the count of the unknown name')
  })

  t.test('openssl: client certificates; one line for each that is refused', async (t) => {
    const { checked } = started
    const ask = (certificate: string, path: string) =>
      run('sh', [
        '-c',
        `printf 'GET ${path} HTTP/1.1\\r\\nHost: a\\r\\nConnection: close\\r\\n\\r\\n' | openssl s_client -ign_eof -connect 127.0.0.1:${checked} -servername a.example ${certificate}`,
      ]).then(
        ({ stdout }) => stdout,
        ({ stdout }: { stdout: string }) => stdout,
      )
    const files = (name: string, notAfter: Date) => {
      const { cert, key } = clients.issue({ names: [name], notAfter })
      write(`${name}.pem`, cert)
      write(`${name}.key`, key)
      return `-cert ${join(gateway.folder, `${name}.pem`)} -key ${join(gateway.folder, `${name}.key`)}`
    }
    const lines = () =>
      gateway
        .lines()
        .filter(({ reason, listener }) => reason !== undefined && listener === `127.0.0.1:${checked}`)
    const valid = files('valid', new Date(Date.now() + 3_600_000))
    t.match(await ask(valid, '/docs/valid'), /HTTP\/1\.1 200 OK\r\n[^]*https/)
    // A line about its handshake would come before it: the same process writes both.
    const isLogged = () => gateway.lines('requests').some(({ path }) => path === '/docs/valid')
    await until(isLogged, 'the line of the request')
    t.same(lines(), [])
    const expired = files('expired', new Date(Date.now() - 60_000))
    t.notMatch(await ask(expired, '/docs/expired'), 'HTTP/1.1')
    await until(() => lines().length > 0, 'a line')
    t.match(lines(), [
      {
        msg: 'a TLS handshake failed: the connection is closed',
        reason: 'client_certificate',
        detail: /EXPIRED/,
        peer: '127.0.0.1',
      },
    ])
    t.equal(lines().length, 1)
  })

  t.test('sessions are resumed at every worker', async (t) => {
    let session: Buffer | undefined
    for (let i = 0; i < 20; i++) {
      const socket = connect(session === undefined ? secure(port) : { ...secure(port), session })
      socket.on('session', (bytes) => (session = bytes))
      socket.write('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n')
      await once(socket, 'data')
      t.equal(socket.isSessionReused(), i > 0)
      socket.destroy()
    }
  })

  t.test('a WebSocket over TLS', async (t) => {
    const client = new RawClient(connect(secure(port))).send(handshake('/docs/ws'))
    t.match(await client.until('\r\n\r\n'), /^HTTP\/1\.1 101 /)
    await client.send(Buffer.from('8182000000006869', 'hex')).until('\x81\x05https')
    client.close()
  })

  t.test('a certificate is replaced under load, and no request fails', (t) => replacedUnderLoad(t, started))

  t.test('a faulty certificate is reported, and the one before it serves on', async (t) => {
    const shown = async () => {
      const socket = connect(secure(port))
      await once(socket, 'secureConnect')
      const { fingerprint256 } = socket.getPeerCertificate()
      socket.destroy()
      return fingerprint256
    }
    const refusals = () => gateway.lines().filter(({ msg }) => String(msg).startsWith('reload refused'))
    const last = issue()
    write('a.key', last.key)
    write('a.pem', last.cert)
    gateway.signal('SIGHUP')
    const wanted = new X509Certificate(last.cert).fingerprint256
    await until(async () => (await shown()) === wanted, 'the new certificate')
    for (const [name, text, fault] of [
      ['a.pem', 'nothing', /a\.pem" contains no PEM certificate/],
      ['a.key', issue().key, /key: does not match the certificate/],
    ] as const) {
      write('a.pem', last.cert)
      write('a.key', last.key)
      write(name, text)
      gateway.signal('SIGHUP')
      await until(() => fault.test(String(refusals().at(-1)?.faults)), String(fault))
      t.equal(await shown(), wanted)
      t.equal(await get(port), '200 https')
    }
  })
})
