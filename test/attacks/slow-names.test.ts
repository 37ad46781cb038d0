/**
 * The DNS server of one tenant's provider does not respond. The look-ups that wait for it block no others: libuv runs
 * at most two getaddrinfo at once for the whole process. With eight look-ups that wait, one of localhost took 39.7 s.
 */

import { randomBytes, scrypt } from 'node:crypto'
import { lookup } from 'node:dns/promises'
import { readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { performance } from 'node:perf_hooks'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import t from 'tap'
import { NameServer } from '../oidc/name-server.ts'
import { freshWorld, startOwn } from '../oidc/world.ts'
import { configureTenant } from '../sign-in/world.ts'
import { until } from '../support/until.ts'
import { startRedis } from '../support/servers/redis.ts'

const WAITING = 64
/** ms: longer than the test, so that nothing times out. */
const PATIENT = 250_000

t.test('other tenants, the store and Redis are unaffected', async (t) => {
  const world = await startOwn(t)
  const redis = await startRedis(t)
  const nameServer = await NameServer.start(t)
  const issuers = Array.from({ length: WAITING }, (_, i) => `https://slow-${i}.example`)
  for (const issuer of issuers) nameServer.names.set(new URL(issuer).hostname, null)
  const names = { servers: [nameServer.address], resolvFile: '/nowhere', total: PATIENT, timeout: PATIENT }
  const limits = { connect: PATIENT, total: PATIENT, names }
  let waiting = WAITING
  const { file } = world.gateway.config
  const ids = issuers.map((_, i) => `slow${i}`)
  const lines = ids.map((id) => `\n  ${id}: {}`).join('')
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^tenants:$/m, `$&${lines}`))
  for (const [i, id] of ids.entries()) {
    const redirectUri = `${world.origin}/auth/oidc/callback/${id}`
    configureTenant(file, id, world.acme.config({ issuer: issuers[i] ?? '', redirectUri }))
  }
  const secrets = ids.map((id) => [`${id.toUpperCase()}_SECRET`, randomBytes(32).toString('hex')])
  await world.configure({ limits, env: Object.fromEntries(secrets) })
  const begun = ids.map(async (id) => {
    const page = await world.visitor().begin(id)
    waiting--
    return page
  })
  const isAsked = () => issuers.every((issuer) => nameServer.count(new URL(issuer).hostname) > 0)
  await until(
    () => isAsked() || waiting === 0,
    () => 'the DNS server was not asked for each',
  )
  t.equal(waiting, WAITING, 'all of them wait for the DNS server')

  world.user('bob', {}, world.globex)
  t.equal((await world.visitor('bob').signIn('globex')).status, 200, 'another tenant signs in')
  t.match(await lookup('localhost'), { address: /./ }, 'a look-up by getaddrinfo')
  t.ok(await readFile(import.meta.filename), 'a file')
  t.ok(await promisify(scrypt)('password', 'salt', 32), 'cryptography')
  const client = new Redis(redis.port, 'localhost', { lazyConnect: true })
  await client.connect()
  t.equal(await client.ping(), 'PONG', 'a new connection to Redis, by name')
  client.disconnect()
  t.equal(waiting, WAITING, 'all of them still wait')

  nameServer.release()
  for (const page of await Promise.all(begun)) t.equal(page.status, 503)
  t.match(world.events('sign_in_failed').at(-1), { tenant: /^slow/, reason: /is unreachable \(ENOTFOUND\)/ })
})

t.test('a look-up has a timeout, and their number is bounded', async (t) => {
  const world = await freshWorld()
  const nameServer = await NameServer.start(t)
  nameServer.names.set('slow.example', null)
  const names = { servers: [nameServer.address], resolvFile: '/nowhere', timeout: 100, total: 200 }
  const issuer = 'https://slow.example'
  await world.configure({
    limits: { connect: PATIENT, total: PATIENT, names },
    acme: { issuer, redirectUri: `${world.origin}/auth/oidc/callback/acme` },
  })
  const began = performance.now()
  const pages = await Promise.all(Array.from({ length: 100 }, () => world.visitor().begin()))
  for (const page of pages) t.match(page.json, { status: 503, code: 'unavailable' })
  t.match(world.events('sign_in_failed')[0], { reason: /is unreachable \(ETIMEOUT\)/ })
  // Each look-up sends two queries for each family, and on a slow machine a second passes between look-ups.
  const allowed = 4 * Math.ceil((performance.now() - began) / 1000)
  t.ok(nameServer.count('slow.example') <= allowed, 'one look-up for all of them')
  await world.configure()
  t.equal((await world.visitor().begin()).status, 200, 'with another provider')
})
