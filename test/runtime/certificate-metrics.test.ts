/** When certificates expire and are to be renewed, as metrics: of every file of listeners and upstreams. */

import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { join } from 'node:path'
import t from 'tap'
import { Authority } from '../proxy/authority.ts'
import { Folder } from '../config/support.ts'
import { listen } from '../support/listen.ts'
import { metricsOf } from '../support/operations.ts'
import { certificateFiles } from '../support/servers/tls.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'

const DAY = 86_400
const NOW = Math.floor(Date.now() / 1000)
const root = new Authority('Root')
const issuing = new Authority('Issuing', root)

/** A certificate with its issuing authority's, which ends in a day. */
function issued(from: number, until: number) {
  const [notBefore, notAfter] = [from, until].map((days) => new Date((NOW + days * DAY) * 1000))
  return root.issue({ names: ['localhost'], ...(notBefore && { notBefore }), ...(notAfter && { notAfter }) })
}

t.test('every file, with the certificate in it that is due first', async (t) => {
  const long = issued(-100, 265)
  const short = issued(-1, 5)
  const gone = issued(-9, -1)
  const folder = new Folder(t, {
    'long.pem': long.cert,
    'long.key': long.key,
    'both.pem': long.cert + short.cert,
    'old.pem': gone.cert + long.cert,
    'chain.pem': issuing.cert,
    'gateway.config.yaml': `tenants: { acme: { token: { secrets: ['secret-of-acme-secret-of-acme-secret'] } } }
listen:
  - address: 127.0.0.1:0
  - address: 127.0.0.1:1
    tls: { certificates: [{ cert: long.pem, key: long.key }, { cert: both.pem, key: long.key }], client_ca: old.pem }
upstreams:
  main: { targets: ['https://127.0.0.1:9001'], tls: { ca: chain.pem, cert: long.pem, key: long.key } }
`,
  })
  const { config, faults } = await folder.load()
  t.same(faults, [])
  const at = (days: number) => (NOW + days * DAY) * 1000
  const year = { renewal: at(235), expiry: at(265) }
  t.same(
    config?.certificates.map((each) => ({ ...each, renewal: Math.round(each.renewal / 1000) * 1000 })),
    [
      { setting: 'listen[1].tls.certificates[0].cert', ...year },
      { setting: 'listen[1].tls.certificates[1].cert', renewal: at(3), expiry: at(5) },
      { setting: 'listen[1].tls.client_ca', ...year },
      {
        setting: 'upstreams.main.tls.ca',
        renewal: config?.certificates[3]?.renewal,
        expiry: config?.certificates[3]?.expiry,
      },
      { setting: 'upstreams.main.tls.cert', ...year },
    ],
  )
  for (const name of ['long.pem', 'old.pem', 'chain.pem', 'long.key'])
    t.ok(config?.files.includes(folder.file(name)), `${name} is watched`)
})

t.test('a reload replaces the values', async (t) => {
  const world = await startWorld(t, { secure: issued(-100, 265) })
  const values = async () =>
    [...(await metricsOf(world)).matchAll(/^seatgate_certificate_(\w+)_timestamp_seconds(\S+) (\d+)$/gm)].map(
      ([, end, labels, value]) => `${end} ${labels} ${Number(value) - NOW}`,
    )
  const label = '{setting="listen[1].tls.certificates[0].cert"}'
  t.same(await values(), [`expiration ${label} ${265 * DAY}`, `renewal ${label} ${235 * DAY}`])
  const next = issued(0, 6)
  writeFileSync(join(world.folder, 'front.pem'), next.cert)
  writeFileSync(join(world.folder, 'front.key'), next.key)
  await world.reload()
  t.same(await values(), [`expiration ${label} ${6 * DAY}`, `renewal ${label} ${4 * DAY}`])
})

t.test('that of a target, as a connection has verified it, and as it is after a renewal', async (t) => {
  let identity = issued(-100, 265)
  const server = createServer(identity, (_, response) => response.end('served'))
  const port = await listen(t, server)
  const { ca } = certificateFiles(t, root.cert, identity)
  const target = `https://localhost:${port}`
  const world = await startWorld(t, { target, upstream: [`tls: { ca: ${ca} }`] })
  const values = async () =>
    [
      ...(await metricsOf(world)).matchAll(
        /^seatgate_upstream_certificate_(\w+)_timestamp_seconds(\S+) (\d+)$/gm,
      ),
    ].map(([, end, labels, value]) => `${end} ${labels} ${Number(value) - NOW}`)
  t.same(await values(), [], 'no connection yet')
  const label = `{upstream="main",target="${target}"}`
  const ask = async () => t.equal((await world.client.send('GET', '/docs/a')).status, 200)
  await ask()
  t.same(await values(), [`expiration ${label} ${265 * DAY}`, `renewal ${label} ${235 * DAY}`])
  identity = issued(0, 6)
  // Node.js has no other keys of session tickets for it, so that the next handshake would be none.
  server.setSecureContext({ ...identity, ticketKeys: randomBytes(48) })
  server.closeAllConnections()
  await until(async () => {
    await ask()
    return (await values()).includes(`expiration ${label} ${6 * DAY}`)
  }, 'the new certificate')
  t.same(await values(), [`expiration ${label} ${6 * DAY}`, `renewal ${label} ${4 * DAY}`])
})
