/**
 * The proxy of the environment is for providers alone: upstreams, their health checks and WebSockets, traces and the
 * commands do without it, also where Node.js itself is told to read the variables.
 */

import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { createServer as createSecureServer } from 'node:tls'
import t from 'tap'
import { folderWith, seatgate } from '../cli/command-line.ts'
import { CLIENT_SECRET, TestProvider } from '../oidc/provider.ts'
import { Authority } from '../proxy/authority.ts'
import { Client } from '../support/client.ts'
import { GatewayProcess } from '../support/gateway-process.ts'
import { listen } from '../support/listen.ts'
import { ForwardProxy } from '../support/servers/forward-proxy.ts'
import { until } from '../support/until.ts'
import { handshake, startWebSocketUpstream, WebSocketClient } from '../websocket/support.ts'

const PASSWORD = 'hush-hush-secret'
/** Only the proxy leads to it. */
const NAME = 'idp.acme.test'

t.test('all that a gateway asks', async (t) => {
  const redirectUri = 'https://gw.example/auth/oidc/callback'
  const provider = await TestProvider.start(t, { redirectUri, name: NAME, lazy: true })
  const proxy = await ForwardProxy.start(t, { credentials: `gate:${PASSWORD}` })
  const { host, port } = new URL(provider.issuer)
  const authority = new Authority()
  const secured = createSecureServer(authority.issue({ names: [NAME] }), (socket) => {
    const onward = connect(Number(port), '127.0.0.1')
    socket.on('error', () => onward.destroy())
    onward.on('error', () => socket.destroy())
    socket.pipe(onward).pipe(socket)
  })
  proxy.routes.set(host, await listen(t, secured))
  const upstream = await startWebSocketUpstream(t)
  let exports = 0
  const collector = createServer((request, response) => {
    exports++
    request.resume().on('end', () => response.end())
  })
  const url = `http://gate:${PASSWORD}@127.0.0.1:${proxy.port}`
  const env = {
    HTTP_PROXY: url,
    HTTPS_PROXY: url,
    ALL_PROXY: url,
    NODE_USE_ENV_PROXY: '1',
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${await listen(t, collector)}`,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    ACME_OIDC_SECRET: CLIENT_SECRET,
    NODE_EXTRA_CA_CERTS: join(folderWith(t, { 'authority.pem': authority.cert }), 'authority.pem'),
  }
  const oidc = {
    issuer: provider.issuer,
    client_id: 'client_secret_basic-RS256',
    client_secret: '${ACME_OIDC_SECRET}',
    redirect_uri: redirectUri,
    allow_insecure: true,
  }
  const gateway = await GatewayProcess.launch(t, {
    env,
    target: upstream.url,
    upstream: ['health: { path: /well, interval: 1s }'],
    routes: ['GET /open: public', 'GET /socket: public'],
    acme: [`oidc: ${JSON.stringify(oidc)}`],
  })
  await gateway.listens()

  const client = new Client(gateway.port)
  t.teardown(() => client.close())
  t.match(await client.send('GET', '/open'), { status: 200, body: 'plain' })
  const socket = new WebSocketClient(gateway.port)
  t.teardown(() => socket.close())
  socket.send(handshake('/socket'))
  await until(
    () => socket.open,
    () => `no WebSocket: ${socket.received}`,
  )
  await until(
    () => upstream.requests.some(({ url }) => url === '/well'),
    () => 'no health check came',
  )
  await until(
    () => exports > 0,
    () => 'no trace came',
  )
  const listed = ['seats', 'list', '--url', gateway.origin, '--api-key', 'none', '--space', 'admin']
  t.match(await seatgate(gateway.folder, listed, env), { code: 1, err: /401/ })
  t.same(proxy.targets, [], 'nothing of it went by the proxy')

  const json = { 'content-type': 'application/json' }
  const begun = await client.send('POST', '/auth/oidc/login', json, '{"tenant": "acme"}')
  t.equal(begun.status, 200, gateway.log)
  t.same([...new Set(proxy.targets)], [host])
  t.same(proxy.others, [])

  const variables = { ...env, ACME_SECRET: 'x'.repeat(40), GLOBEX_SECRET: 'y'.repeat(40) }
  const checked = await seatgate(gateway.folder, ['check', '--online'], variables)
  const shown = `http://127.0.0.1:${proxy.port} of HTTPS_PROXY`
  t.match(
    checked.out,
    `ok: tenants.acme.oidc.issuer: ${provider.issuer}, 4 usable keys, by the proxy ${shown}\n`,
  )
  t.match(checked.out, `tenant acme: ${provider.issuer} is asked by the proxy ${shown}\n`)
  const json2 = await seatgate(gateway.folder, ['check', '--format', 'json'], variables)
  t.same(JSON.parse(json2.out).proxies, [
    {
      tenant: 'acme',
      issuer: provider.issuer,
      proxy: `http://127.0.0.1:${proxy.port}`,
      variable: 'HTTPS_PROXY',
    },
  ])
  proxy.routes.clear()
  const refused = await seatgate(gateway.folder, ['check', '--online'], variables)
  t.match(refused, {
    code: 1,
    err: `the proxy ${shown} refused a connection to ${host} (502). Correct the environment variable HTTPS_PROXY, or the proxy; where`,
  })
  const { code, err } = await seatgate(gateway.folder, ['start'], {
    ...variables,
    HTTPS_PROXY: `socks5://x:${PASSWORD}@a`,
  })
  t.match(
    { code, err },
    { code: 1, err: /tenants\.acme\.oidc\.issuer: HTTPS_PROXY is not http:\/\/host:port/ },
  )
  for (const text of [gateway.log, checked.out, json2.out, refused.err, err]) t.notMatch(text, PASSWORD)
})
