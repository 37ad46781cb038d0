/**
 * A certificate that is replaced every 200 ms under load: no request fails. Its files are watched; nothing tells the gateway.
 * A thorough run goes on for a minute.
 */

import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { request } from 'node:https'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import t from 'tap'
import { startService } from '../operations/service.ts'
import { Authority } from '../proxy/authority.ts'
import { writeConfiguration } from '../support/configuration.ts'
import { startGatewayProcess } from '../support/gateway-process.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { amount } from '../support/thorough.ts'
import { until } from '../support/until.ts'

const SECONDS = amount({ usual: 8, thorough: 60 })
const EVERY = 200
/** Milliseconds between the handshakes of a client: several for each certificate, and time for others on the machine. */
const PAUSE = 20

const authority = new Authority()
const issue = () => authority.issue({ names: ['a.example', '127.0.0.1'] })
const { url } = await startService(t, 'main', (_request, response) => response.end('served'))
const folder = serverFolder(t, 'renewal')
writeConfiguration(folder, { target: url, secure: issue(), top: ['workers: 2'] })
const gateway = await startGatewayProcess(t, { folder })
const port = Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.log)?.[1])
const secure = { port, host: '127.0.0.1', servername: 'a.example', ca: authority.cert }

/** As certificate managers do: each file is another one at once, the certificate before its key. */
function replace(name: string, text: string): void {
  const next = join(folder, `${name}.next`)
  writeFileSync(next, text, { mode: 0o600 })
  renameSync(next, join(folder, name))
}

const shown = new Set<string>()
const failures: string[] = []
let [requests, done] = [0, false]

/** HTTP/1.1 on a connection of its own. */
function fresh(): Promise<string> {
  return new Promise((resolve, reject) => {
    const asked = request({ ...secure, agent: false, path: '/docs/fresh' }, (response) => {
      let text = `${response.statusCode} `
      response.on('data', (chunk) => (text += chunk)).on('end', () => resolve(text))
    })
    asked.on('error', reject)
    asked.on('socket', (socket) =>
      socket.once('secureConnect', () =>
        shown.add((socket as TLSSocket).getPeerCertificate().fingerprint256),
      ),
    )
    asked.end()
  })
}

const openHttp2 = () =>
  connectHttp2(`https://127.0.0.1:${port}`, { ca: authority.cert, servername: 'a.example' })

async function overHttp2(session: ClientHttp2Session): Promise<string> {
  const stream = session.request({ ':path': '/docs/http2' })
  let [status, text] = [0, '']
  stream.on('response', (headers) => (status = Number(headers[':status'])))
  stream.setEncoding('latin1')
  for await (const chunk of stream) text += chunk
  return `${status} ${text}`
}

async function freshHttp2(): Promise<string> {
  const session = openHttp2()
  try {
    return await overHttp2(session)
  } finally {
    session.destroy()
  }
}

async function load(ask: () => Promise<string>): Promise<void> {
  while (!done) {
    requests++
    const answer = await ask().catch(String)
    if (answer !== '200 served') failures.push(answer)
    await sleep(PAUSE)
  }
}

t.test(`replaced every ${EVERY} ms for ${SECONDS} s: no request fails`, async (t) => {
  t.teardown(() => (done = true))
  const session = openHttp2()
  t.teardown(() => session.destroy())
  const kept = connect(secure)
  t.teardown(() => kept.destroy())
  let responses = ''
  kept.on('data', (chunk) => (responses += chunk.toString('latin1')))
  await Promise.all([once(kept, 'secureConnect'), once(session, 'connect')])
  const clients = [load(fresh), load(fresh), load(freshHttp2), load(() => overHttp2(session))]
  const end = Date.now() + SECONDS * 1000
  let [replaced, sent] = [0, 0]
  let last = issue()
  while (Date.now() < end) {
    last = issue()
    replace('front.pem', last.cert)
    replace('front.key', last.key)
    if (replaced++ % 25 === 0) kept.write(`GET /docs/${sent++} HTTP/1.1\r\nHost: a\r\n\r\n`)
    await sleep(EVERY)
  }
  done = true
  await Promise.all(clients)
  await until(
    () => responses.split('HTTP/1.1 200').length - 1 === sent,
    'each response of the kept connection',
  )
  t.same(failures, [])
  t.ok(!session.destroyed && !kept.destroyed, 'the connections of the beginning are open')
  t.ok(shown.size >= Math.max(2, SECONDS / 10), `${shown.size} certificates were shown`)
  t.comment(`${requests} requests, ${replaced} certificates, of which ${shown.size} were shown`)
})

t.test('the last certificate is the one that stays', async () => {
  const last = issue()
  replace('front.pem', last.cert)
  replace('front.key', last.key)
  const wanted = new X509Certificate(last.cert).fingerprint256
  await until(async () => (await fresh().then(() => [...shown].at(-1))) === wanted, 'the last certificate')
})
