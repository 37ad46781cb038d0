/**
 * Providers and issuers that only a forward proxy reaches: whole sign-ins by a real provider, keys over TLS, and a proxy
 * that refuses, is away or answers garbage.
 */

import { createServer as createSecureServer } from 'node:tls'
import { connect, createServer } from 'node:net'
import { setDefaultCACertificates, getCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { type ProviderProxies, readProviderProxies } from '../../src/config/provider-proxies.ts'
import { inspectIssuer } from '../../src/oidc/provider/inspect-provider.ts'
import { Authority } from '../proxy/authority.ts'
import { listen } from '../support/listen.ts'
import { ForwardProxy, type ForwardProxyOptions } from '../support/servers/forward-proxy.ts'
import { HostileProvider } from './hostile-provider.ts'
import { NameServer } from './name-server.ts'
import { TestProvider } from './provider.ts'
import { freshWorld } from './world.ts'

/** Only the proxy leads to it. */
const NAME = 'idp.acme.test'
const PASSWORD = 'hush-hush@secret'
const CREDENTIALS = `gate:${PASSWORD}`
const USERINFO = `gate:${encodeURIComponent(PASSWORD)}@`
const PATIENT = { connect: 30_000, total: 30_000 }

function proxiesOf(env: Record<string, string>): ProviderProxies {
  const place = { file: 'gateway.config.yaml', line: 1, column: 1 }
  const { proxies, faults } = readProviderProxies(env, [{ key: 'issuer', place }])
  if (faults.length > 0) throw new Error(faults[0]?.message)
  return proxies
}

const ISSUER = 'https://login.acme.test'
const authority = new Authority()
const identity = authority.issue({ names: [NAME, 'login.acme.test', 'keys.acme.test', 'proxy.acme.test'] })

/** Trusted until the end of the test. */
function trust(t: Test): void {
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, authority.cert])
  t.teardown(() => setDefaultCACertificates(before))
}

/** A server of TLS in front of a plain one. @returns its port */
function startTls(t: Test, port: number): Promise<number> {
  const server = createSecureServer(identity, (socket) => {
    const onward = connect(port, '127.0.0.1')
    socket
      .on('error', () => onward.destroy())
      .pipe(onward)
      .pipe(socket)
    onward.on('error', () => socket.destroy())
  })
  return listen(t, server)
}

async function startSignIn(t: Test, env: (proxy: ForwardProxy) => Record<string, string>) {
  const world = await freshWorld()
  trust(t)
  const redirectUri = `${world.origin}/auth/oidc/callback`
  const provider = await TestProvider.start(t, { redirectUri, name: NAME, claimsInIdToken: false })
  const { host, port, origin: issuer } = new URL(provider.issuer)
  const proxy = await ForwardProxy.start(t, { credentials: CREDENTIALS })
  proxy.routes.set(host, await startTls(t, Number(port)))
  const { address } = await NameServer.start(t)
  const limits = {
    ...PATIENT,
    names: { servers: [address], resolvFile: '/nowhere', total: 60_000, timeout: 20_000 },
  }
  const take = (variables = env(proxy)) => world.configure({ acme: { issuer }, limits, env: variables })
  await take()
  provider.user('alice', { memberOf: ['Viewer'] })
  const begin = () => world.visitor().begin()
  const reason = () => world.events('sign_in_failed').at(-1)?.reason
  return { world, provider, host, proxy, take, begin, reason }
}

const through = ({ port }: ForwardProxy) => ({ HTTPS_PROXY: `http://${USERINFO}127.0.0.1:${port}` })

t.test('a whole sign-in, refresh and logout', async (t) => {
  const { world, provider, host, proxy, take, begin, reason } = await startSignIn(t, through)
  const browser = world.visitor()
  const page = await browser.signIn()
  t.equal(page.status, 200, page.body)
  for (const path of ['/.well-known/openid-configuration', '/jwks', '/token', '/me'])
    t.equal(provider.count(path), 1, path)
  t.equal((await browser.refresh(page.json.refresh_token)).status, 200)
  t.ok(proxy.targets.length > 0)
  t.same([...new Set(proxy.targets)], [host])
  t.same(proxy.others, [])
  const before = proxy.targets.length
  await take({})
  t.equal((await begin()).status, 503, 'without the proxy the provider is out of reach')
  const unreachable = reason()
  t.notMatch(unreachable, 'proxy')
  await take({ ...through(proxy), NO_PROXY: 'acme.test' })
  t.equal((await begin()).status, 503, 'NO_PROXY')
  t.equal(reason(), unreachable)
  t.equal(proxy.targets.length, before)
})

t.test('a provider on loopback is asked directly', async (t) => {
  const proxy = await ForwardProxy.start(t)
  const url = `http://127.0.0.1:${proxy.port}`
  const env = { HTTP_PROXY: url, http_proxy: url, HTTPS_PROXY: url, https_proxy: url }
  for (const host of ['127.0.0.1', 'localhost']) {
    const world = await freshWorld()
    const redirectUri = `${world.origin}/auth/oidc/callback`
    const provider = await TestProvider.start(t, { redirectUri, loopback: host })
    provider.user('alice', { memberOf: [] })
    await world.configure({ acme: { issuer: provider.issuer }, env })
    t.equal((await world.visitor().signIn()).status, 200, host)
  }
  t.same([proxy.targets, proxy.others], [[], []])
})

t.test('a proxy that refuses, is away or answers garbage', async (t) => {
  const { world, proxy, take, begin, reason } = await startSignIn(t, through)
  const named = (more = '') => `the proxy http://127.0.0.1:${proxy.port} of HTTPS_PROXY${more}`
  const cases: Record<string, string> = {
    'HTTP/1.1 403 Forbidden\r\n\r\n': ` refused a connection to ${NAME}:`,
    'HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n': ` refused a connection to ${NAME}:`,
    'SSH-2.0-OpenSSH_9.2\r\n': ' sent what is not a response of HTTP/1.1 (HPE_INVALID_CONSTANT)',
    '': ' closed the connection (ECONNRESET)',
    'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\n': ' sent data before the request',
    [`HTTP/1.1 200 OK\r\nx: ${'x'.repeat(20_000)}\r\n\r\n`]:
      ' sent what is not a response of HTTP/1.1 (HPE_HEADER_OVERFLOW)',
  }
  for (const [answer, expected] of Object.entries(cases)) {
    proxy.instead = answer
    await take()
    t.equal((await begin()).status, 503, expected)
    t.match(reason(), named(expected))
  }
  proxy.instead = null
  await take({ HTTPS_PROXY: `http://gate:wrong-secret@127.0.0.1:${proxy.port}` })
  t.equal((await begin()).status, 503)
  t.match(reason(), /refused a connection to \S+ without the right user name and password \(407\)$/)
  proxy.routes.clear()
  await take()
  t.equal((await begin()).status, 503)
  t.match(reason(), /refused a connection to \S+ \(502\)$/)
  const nobody = createServer()
  const port = await listen(t, nobody)
  await new Promise((resolve) => nobody.close(resolve))
  await take({ HTTPS_PROXY: `http://${USERINFO}127.0.0.1:${port}` })
  t.equal((await begin()).status, 503)
  t.match(reason(), `the proxy http://127.0.0.1:${port} of HTTPS_PROXY is unreachable (ECONNREFUSED)`)
  const encoded = Buffer.from(CREDENTIALS).toString('base64')
  for (const secret of [PASSWORD, encodeURIComponent(PASSWORD), encoded, 'wrong-secret'])
    t.notMatch(JSON.stringify(world.lines()), secret)
})

t.test('a proxy that answers nothing', async (t) => {
  const silent = await listen(t, createServer())
  const { world, begin, reason } = await startSignIn(t, through)
  const HTTPS_PROXY = `http://127.0.0.1:${silent}`
  await world.configure({
    acme: { issuer: `https://${NAME}:9` },
    limits: { connect: 20, total: 60_000 },
    env: { HTTPS_PROXY },
  })
  t.equal((await begin()).status, 503)
  t.match(reason(), `the proxy http://127.0.0.1:${silent} of HTTPS_PROXY has not answered within 20 ms`)
})

/** An issuer at a name that only the proxy knows, over TLS. */
async function startIssuer(t: Test, options: ForwardProxyOptions = {}) {
  trust(t)
  const provider = await HostileProvider.start(t)
  const port = await startTls(t, Number(new URL(provider.issuer).port))
  const proxy = await ForwardProxy.start(t, options)
  for (const name of ['login.acme.test', 'keys.acme.test', '10.0.0.7']) proxy.routes.set(`${name}:443`, port)
  const nameServer = await NameServer.start(t)
  nameServer.names.set('proxy.acme.test', ['127.0.0.1'])
  const { tls } = options
  const HTTPS_PROXY = tls === undefined ? `127.0.0.1:${proxy.port}` : `https://proxy.acme.test:${proxy.port}`
  provider.metadata = {
    issuer: ISSUER,
    jwks_uri: `${ISSUER}/jwks`,
    authorization_endpoint: undefined,
    token_endpoint: undefined,
  }
  const names = { servers: [nameServer.address], resolvFile: '/nowhere', total: 60_000, timeout: 20_000 }
  const inspect = (jwksUri: string | null = null) => {
    const config = {
      issuer: ISSUER,
      audience: 'seatgate',
      jwksUri,
      algorithms: ['ES256'],
      seats: null,
      seatsClaim: 'memberOf',
      match: [],
      userClaim: 'sub',
      maxLifetime: 3_600_000,
      allowInsecure: false,
    }
    const found = inspectIssuer(config, { ...PATIENT, names, proxies: proxiesOf({ HTTPS_PROXY }) })
    return found.then(
      ({ keys }) => keys,
      (cause: Error) => cause.message,
    )
  }
  return { provider, proxy, inspect, nameServer }
}

t.test('keys over TLS, from a name that the proxy alone knows', async (t) => {
  const { proxy, inspect, nameServer } = await startIssuer(t)
  t.equal(await inspect(), 1)
  t.same([...new Set(proxy.targets)], ['login.acme.test:443'])
  t.equal(nameServer.count('login.acme.test'), 0, 'the proxy looks up the name')
  proxy.routes.set('login.acme.test:443', proxy.port)
  t.match(await inspect(), /the provider is unreachable \(\w+\)/, 'what is behind the proxy speaks no TLS')
})

t.test('a proxy that answers for the provider itself', async (t) => {
  const { proxy, inspect } = await startIssuer(t)
  const codes: [Authority, string, string][] = [
    [authority, 'other.acme.test', 'ERR_TLS_CERT_ALTNAME_INVALID'],
    [new Authority('Another'), 'login.acme.test', 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY'],
  ]
  for (const [of, name, code] of codes) {
    const impostor = createSecureServer(of.issue({ names: [name] }), (socket) => socket.on('error', () => {}))
    impostor.on('tlsClientError', () => {})
    proxy.routes.set('login.acme.test:443', await listen(t, impostor))
    t.equal(await inspect(), `the provider is unreachable (${code})`)
  }
})

t.test('TLS to the proxy', async (t) => {
  const { proxy, inspect } = await startIssuer(t, { tls: identity })
  t.equal(await inspect(), 1)
  t.same([...new Set(proxy.targets)], ['login.acme.test:443'])
  const other = await startIssuer(t, { tls: authority.issue({ names: ['other.acme.test'] }) })
  t.match(
    await other.inspect(),
    /^the proxy \S+ of HTTPS_PROXY is unreachable \(ERR_TLS_CERT_ALTNAME_INVALID\)$/,
  )
  t.same(other.proxy.targets, [])
})

t.test('a proxy leads to no host that the discovery document chose', async (t) => {
  const { provider, proxy, inspect } = await startIssuer(t)
  provider.metadata = { ...provider.metadata, jwks_uri: 'https://keys.acme.test/jwks' }
  t.match(
    await inspect(),
    /^the provider's jwks_uri is at keys\.acme\.test:443, which the proxy \S+ of HTTPS_PROXY would look up, .* allow it by jwks_uri, or name it in NO_PROXY$/,
  )
  t.equal(await inspect('https://keys.acme.test/jwks'), 1, 'the operator names it')
  provider.metadata = { ...provider.metadata, jwks_uri: 'https://10.0.0.7/jwks' }
  t.match(await inspect(), /an inner address that is neither the issuer's nor in jwks_uri$/)
  t.notOk(proxy.targets.includes('10.0.0.7:443'))
})
