/**
 * Each server that the gateway connects to by TLS, with certificates that are for a name alone and for no address: as
 * managed services have them. They are of a root, or of an authority that a root has issued and that the settings name
 * without its root.
 */

import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createSecureServer } from 'node:http2'
import { createServer as createHttps } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import t, { type Test } from 'tap'
import { Authority, type Identity } from '../proxy/authority.ts'
import { startPostgres } from '../support/servers/postgres.ts'
import { startCluster, startSentinel } from '../support/servers/redis-groups.ts'
import { startRedis } from '../support/servers/redis.ts'
import { certificateFiles } from '../support/servers/tls.ts'
import { online } from './online.ts'

const root = new Authority('Root')
const issuing = new Authority('Issuing', root)
const sibling = new Authority('Sibling', root)
const named = (from: Authority) => from.issue({ names: ['localhost'] })
const BY_NAME = ['cluster-announce-hostname localhost', 'cluster-preferred-endpoint-type hostname']
/** No node counts as gone, however long a busy machine keeps it silent. */
const PATIENT = 'cluster-node-timeout 60000'

async function listen(t: Test, server: Server): Promise<number> {
  server.on('tlsClientError', () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** As much of a provider as a check asks for. */
async function startProvider(t: Test, identity: Identity): Promise<string> {
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const keys = [{ ...publicKey.export({ format: 'jwk' }), kid: 'a', alg: 'ES256', use: 'sig' }]
  const answer: RequestListener = ({ url }, response) => {
    const document = {
      issuer,
      authorization_endpoint: `${issuer}/auth`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      code_challenge_methods_supported: ['S256'],
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(url === '/jwks' ? { keys } : document))
  }
  const issuer = `https://localhost:${await listen(t, createHttps(identity, answer))}`
  return issuer
}

const addressed = (nodes: readonly { readonly port: number }[], host = 'localhost') =>
  nodes.map(({ port }) => `${host}:${port}`).join(',')

/** Settings by the kind of server. @param ca the file of the authority */
async function settingsFor(t: Test, identity: Identity, ca: string) {
  // Redis and PostgreSQL themselves want the whole chain of each other's certificates.
  const tls = certificateFiles(t, root.cert, identity)
  const [redis, postgres, cluster, master] = await Promise.all([
    startRedis(t, { tls }),
    startPostgres(t, { tls, fsync: false }),
    startCluster(t, { tls, config: [PATIENT, ...BY_NAME] }),
    startRedis(t, { tls }),
  ])
  const sentinels = await startSentinel(t, master, [], { tls, byName: true })
  const store = new URL(postgres.url)
  store.hostname = 'localhost'
  store.search = `?sslmode=verify-full&sslrootcert=${ca}`
  const http1 = await listen(
    t,
    createHttps(identity, (_, response) => response.end()),
  )
  const http2 = await listen(t, createSecureServer({ ...identity }))
  const upstream = (port: number, more: string) =>
    `targets: ["https://localhost:${port}"], tls: { ca: "${ca}" }${more}`
  return {
    store: store.href,
    redis: [
      `rediss://localhost:${redis.port}?ca=${ca}`,
      `rediss+sentinel://${addressed(sentinels.addresses)}/${sentinels.name}?ca=${ca}`,
      `rediss+cluster://${addressed(cluster.nodes)}?ca=${ca}`,
    ],
    upstreams: [
      upstream(http1, ''),
      upstream(http1, ', health: { path: / }'),
      upstream(http2, ', protocol: h2'),
    ],
    issuer: await startProvider(t, identity),
  }
}

for (const [kind, authority, ca] of [
  ['of a root', root, root.cert],
  ['of an authority that is named without its root', issuing, issuing.cert],
] as const)
  t.test(`certificates for a name alone, ${kind}`, async (t) => {
    const identity = named(authority)
    const { ca: file } = certificateFiles(t, ca, identity)
    const { store, redis, upstreams, issuer } = await settingsFor(t, identity, file)
    const oidc = `issuer: "${issuer}"`
    const env = { NODE_EXTRA_CA_CERTS: file }
    for (const [at, upstream] of upstreams.entries()) {
      const found = await online(t, {
        store,
        redis: redis[at] ?? '',
        upstream,
        ...(at === 0 ? { oidc, env } : {}),
      })
      const expected = ['store', 'redis', ...(at === 0 ? ['tenants'] : []), 'upstreams']
      t.equal(found.code, 0)
      t.equal(found.found.length, expected.length)
      for (const [index, about] of expected.entries())
        t.match(found.found[index], new RegExp(`^(?:ok -|warning store_missing) ${about}`))
    }
  })

t.test('a sibling of the named authority is not trusted, with its own chain neither', async (t) => {
  const identity = named(sibling)
  const tls = certificateFiles(t, root.cert, identity)
  const other = certificateFiles(t, issuing.cert, identity)
  const [redis, postgres] = await Promise.all([
    startRedis(t, { tls }),
    startPostgres(t, { tls, fsync: false }),
  ])
  const port = await listen(
    t,
    createHttps(identity, (_, response) => response.end()),
  )
  const store = new URL(postgres.url)
  store.hostname = 'localhost'
  const check = (ca: string) =>
    online(t, {
      store: `${store.href}?sslmode=verify-full&sslrootcert=${ca}`,
      redis: `rediss://localhost:${redis.port}?ca=${ca}`,
      upstream: `targets: ["https://localhost:${port}"], tls: { ca: "${ca}" }`,
    })
  t.match(await check(tls.ca), { code: 0, found: [/^warning store_missing/, /^ok/, /^ok/] }, 'by the root')
  const refused = /not from an authority that this gateway knows/
  t.match(await check(other.ca), { code: 1, found: [refused, refused, refused] })
})

t.test(
  'servers that a cluster or sentinels name by an address: the message says which, and what to do',
  async (t) => {
    const tls = certificateFiles(t, root.cert, named(root))
    const [cluster, master] = await Promise.all([
      startCluster(t, { tls, config: [PATIENT] }),
      startRedis(t, { tls }),
    ])
    const sentinels = await startSentinel(t, master, [], { tls })
    const [ofCluster, ofSentinels] = await Promise.all(
      [
        `rediss+cluster://${addressed(cluster.nodes)}?ca=${tls.ca}`,
        `rediss+sentinel://${addressed(sentinels.addresses)}/${sentinels.name}?ca=${tls.ca}`,
      ].map((redis) => online(t, { redis })),
    )
    const names = String.raw`for other names than 127\.0\.0\.1 \(ERR_TLS_CERT_ALTNAME_INVALID: it has localhost\)`
    const ports = cluster.nodes.map(({ port }) => port).join('|')
    t.match(
      ofCluster?.found[1],
      new RegExp(
        `^fault redis_unavailable redis: the certificate of Redis at 127\\.0\\.0\\.1:(?:${ports}) is ${names}, and the cluster names this server so\\. Have the cluster .*cluster-announce-hostname`,
      ),
    )
    t.match(
      ofSentinels?.found[1],
      new RegExp(
        `^fault redis_unavailable redis: the certificate of Redis at 127\\.0\\.0\\.1:${master.port} is ${names}, and the sentinels name this server so\\. Have the sentinels .*announce-hostnames`,
      ),
    )
  },
)

t.test('a name that the certificate lacks: the message has both', async (t) => {
  const identity = root.issue({ names: ['other.example', '10.0.0.1'] })
  const tls = certificateFiles(t, root.cert, identity)
  const local = certificateFiles(t, root.cert, named(root))
  const port = await listen(
    t,
    createHttps(identity, (_, response) => response.end()),
  )
  const [postgres, redis] = await Promise.all([
    startPostgres(t, { tls: local, fsync: false }),
    startRedis(t, { tls: local }),
  ])
  const { found } = await online(t, {
    store: `${postgres.url}?sslmode=verify-full&sslrootcert=${tls.ca}`,
    redis: `rediss+cluster://127.0.0.1:${redis.port}?ca=${tls.ca}`,
    upstream: `targets: ["https://localhost:${port}"], tls: { ca: "${tls.ca}" }`,
  })
  const address = /for other names than 127\.0\.0\.1 \(ERR_TLS_CERT_ALTNAME_INVALID: it has localhost\)/
  t.match(found[0], address)
  t.match(found[1], address)
  t.match(found[2], /for other names than localhost \(\w+: it has other\.example, 10\.0\.0\.1\)/)
})
