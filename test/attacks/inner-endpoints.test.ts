/**
 * A discovery document that directs the gateway to services of its own network: by address in every spelling, by
 * name, and by a name whose address changes. Only the issuer's own origin, and addresses that the operator lists, may
 * be internal.
 */

import { createServer as createHttps } from 'node:https'
import { type AddressInfo, createServer } from 'node:net'
import { request } from 'node:http'
import tls from 'node:tls'
import type { Test } from 'tap'
import t from 'tap'
import type { OidcConfig } from '../../src/config/config.ts'
import { callbackOf, HostileProvider } from '../oidc/hostile-provider.ts'
import { NameServer } from '../oidc/name-server.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'
import { freshWorld } from '../oidc/world.ts'
import { until } from '../support/until.ts'

const DISCOVERED = [
  'token_endpoint',
  'jwks_uri',
  'userinfo_endpoint',
  'authorization_endpoint',
  'end_session_endpoint',
]
const INNER = /an inner address that is neither the issuer's nor in endpoint_hosts/

/** Counts connections. */
async function innerService(t: Test) {
  const seen = { connections: 0, port: 0 }
  const server = createServer((socket) => {
    seen.connections++
    socket.on('error', () => {}).end('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  seen.port = (server.address() as AddressInfo).port
  return seen
}

async function attack(t: Test, acme: Partial<OidcConfig> = {}) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  const nameServer = await NameServer.start(t)
  const names = { servers: [nameServer.address], resolvFile: '/nowhere', total: 60_000, timeout: 20_000 }
  const limits = { connect: 60_000, total: 60_000, names }
  const take = () => provider.takes(world, { limits, acme })
  await take()
  const reason = () => world.events('sign_in_failed').at(-1)?.reason
  /** A whole sign-in, with any result. */
  const signIn = async () => {
    const browser = world.visitor()
    const begun = await browser.begin()
    if (begun.status !== 200) return begun
    const parameters = new URL(begun.json.authorization_url).searchParams
    const idToken = await provider.sign(provider.claims({ nonce: parameters.get('nonce') }))
    provider.gives(idToken, { refresh_token: 'a-refresh-token-of-the-provider' })
    return browser.send(callbackOf(world, parameters.get('state') ?? ''))
  }
  return { world, provider, nameServer, take, reason, signIn }
}

t.test('by address, in every spelling', async (t) => {
  const { provider, take, reason, signIn } = await attack(t)
  const inner = await innerService(t)
  for (const host of [
    '127.0.0.1',
    'localhost',
    '[::1]',
    '2130706433',
    '127.1',
    '0x7f.0.0.1',
    '0',
    '[::ffff:127.0.0.1]',
  ])
    for (const name of DISCOVERED) {
      provider.metadata = { [name]: `https://${host}:${inner.port}/x` }
      await take()
      t.equal((await signIn()).status, 503, `${name} at ${host}`)
      t.match(reason(), name)
      t.match(reason(), INNER)
    }
  for (const host of [
    '169.254.169.254',
    '10.0.0.1',
    '[fd00:ec2::254]',
    '[64:ff9b::a9fe:a9fe]',
    '100.100.100.200',
  ])
    for (const name of DISCOVERED) {
      provider.metadata = { [name]: `https://${host}/latest/meta-data` }
      await take()
      t.equal((await signIn()).status, 503, `${name} at ${host}`)
      t.match(reason(), INNER)
    }
  t.equal(inner.connections, 0)
})

t.test('another port of the issuer, without TLS', async (t) => {
  const { provider, take, reason, signIn } = await attack(t)
  const inner = await innerService(t)
  for (const name of ['token_endpoint', 'jwks_uri', 'userinfo_endpoint']) {
    provider.metadata = { [name]: `http://127.0.0.1:${inner.port}/x` }
    await take()
    t.equal((await signIn()).status, 503, name)
    t.match(reason(), INNER)
  }
  t.equal(inner.connections, 0)
})

const RECORDS: Readonly<Record<string, readonly string[]>> = {
  'the loopback address': ['127.0.0.1'],
  'one of several': ['192.0.2.1', '127.0.0.1'],
  'a private address': ['10.0.0.1'],
  metadata: ['169.254.169.254'],
  'IPv6 loopback': ['0:0:0:0:0:0:0:1'],
  mapped: ['0:0:0:0:0:ffff:7f00:1'],
  NAT64: ['64:ff9b:0:0:0:0:7f00:1'],
  'unique local': ['fd00:0:0:0:0:0:0:1'],
  'link-local': ['fe80:0:0:0:0:0:0:1'],
}

t.test('by name', async (t) => {
  const { provider, nameServer, take, reason, signIn } = await attack(t)
  const inner = await innerService(t)
  for (const [what, records] of Object.entries(RECORDS))
    for (const name of ['token_endpoint', 'jwks_uri']) {
      nameServer.names.set('inner.evil.example', records)
      provider.metadata = { [name]: `https://inner.evil.example:${inner.port}/x` }
      await take()
      const queries = nameServer.count('inner.evil.example')
      t.equal((await signIn()).status, 503, `${name}: ${what}`)
      t.match(reason(), INNER)
      t.equal(
        nameServer.count('inner.evil.example') - queries,
        2,
        'one look-up: the checked address is the one that is used',
      )
    }
  t.equal(inner.connections, 0)
})

t.test('for a name whose address has changed since', async (t) => {
  const { provider, nameServer, reason, signIn, take } = await attack(t)
  const inner = await innerService(t)
  nameServer.names.set('rebound.evil.example', 'NXDOMAIN')
  provider.metadata = { token_endpoint: `https://rebound.evil.example:${inner.port}/x` }
  await take()
  t.equal((await signIn()).status, 503)
  t.match(reason(), /ENOTFOUND/)
  nameServer.names.set('rebound.evil.example', ['127.0.0.1'])
  t.equal((await signIn()).status, 503, 'discovery was valid, and is not read again')
  t.match(reason(), INNER)
  t.equal(inner.connections, 0)
})

t.test('for new keys, and for the end of a session', async (t) => {
  const { world, provider, signIn } = await attack(t)
  const inner = await innerService(t)
  provider.metadata = { revocation_endpoint: `https://127.0.0.1:${inner.port}/x` }
  const page = await signIn()
  t.equal(page.status, 200)
  provider.metadata = { jwks_uri: `http://127.0.0.1:${inner.port}/jwks` }
  await provider.newKey('second')
  t.equal((await signIn()).status, 200, 'the keys are still at the old address')
  const body = { refresh_token: page.json.refresh_token }
  t.equal((await world.visitor().postJson(`${world.origin}/auth/oidc/logout`, body)).status, 200)
  await until(
    () => world.events('logout_incomplete').length > 0,
    () => 'the logout wrote no event',
  )
  t.equal(inner.connections, 0)
})

t.test('where the operator allows it', async (t) => {
  const seen: string[] = []
  const server = createHttps(CERTIFICATES.server, (incoming, outgoing) => {
    const { method, url = '', headers } = incoming
    seen.push(url)
    const onward = request(`${target}${url}`, { method, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.pipe(outgoing)
    })
    incoming.pipe(onward)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const before = tls.getCACertificates('default')
  tls.setDefaultCACertificates([...before, CERTIFICATES.server.ca])
  t.teardown(() => {
    tls.setDefaultCACertificates(before)
    server.closeAllConnections()
    server.close()
  })
  const place = `localhost:${(server.address() as AddressInfo).port}`
  const { provider, take, signIn } = await attack(t, { endpointHosts: [place] })
  const target = provider.issuer
  provider.metadata = { token_endpoint: `https://${place}/token`, jwks_uri: `https://${place}/jwks` }
  await take()
  t.equal((await signIn()).status, 200)
  t.same(seen, ['/token', '/jwks'])
})
