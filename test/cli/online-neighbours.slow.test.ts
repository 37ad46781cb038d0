/** `check --online`: identity providers and targets, and what becomes of the findings. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer as createHttp, type RequestListener } from 'node:http'
import { createServer as createHttps, type ServerOptions } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { TestProvider } from '../oidc/provider.ts'
import { Authority } from '../proxy/authority.ts'
import { reservePort } from '../support/servers/ports.ts'
import { folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'
import { configuration, online, type Parts, PASSWORD } from './online.ts'

const DAY = 86_400_000
const authority = new Authority()
const names = ['localhost', '127.0.0.1']
const yearly = authority.issue({ names, notAfter: new Date(Date.now() + 365 * DAY) })
const expired = authority.issue({
  names,
  notAfter: new Date(Date.now() - DAY),
  notBefore: new Date(Date.now() - 9 * DAY),
})
const files = { 'ca.pem': authority.cert, 'cert.pem': yearly.cert, 'key.pem': yearly.key }
const trusted = 'tls: { ca: ca.pem }'

async function listen(t: Test, server: Server): Promise<number> {
  server.on('tlsClientError', () => {})
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

function secure(
  t: Test,
  options: ServerOptions,
  answer: RequestListener = (_, response) => response.end(),
): Promise<number> {
  return listen(t, createHttps(options, answer))
}

/** A process that stands still. @returns its port */
async function stopped(t: Test, backlog: number): Promise<{ port: number; child: ChildProcess }> {
  const script = `require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: ${backlog} }, function () { console.log(this.address().port) })`
  const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] })
  t.teardown(() => child.kill('SIGKILL'))
  const [port] = await once(child.stdout, 'data')
  child.kill('SIGSTOP')
  return { port: Number(port), child }
}

t.test('identity providers', async (t) => {
  const redirectUri = 'https://gw.example/auth/oidc/callback'
  const start = () => TestProvider.start(t, { redirectUri })
  const [well, late, wrong, keyless, silent, strict] = await Promise.all([
    start(),
    start(),
    start(),
    start(),
    start(),
    start(),
  ])
  late.instead = (_, response) => (
    response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString()),
    false
  )
  wrong.instead = (_, response) => (response.writeHead(404).end(), true)
  keyless.instead = ({ url = '' }, response) => {
    if (!url.startsWith('/jwks')) return false
    response.setHeader('content-type', 'application/json')
    response.end(
      JSON.stringify({
        keys: [
          { kty: 'oct', k: 'c2VjcmV0' },
          { kty: 'RSA', use: 'enc', n: 'AQAB', e: 'AQAB' },
          { kty: 'RSA', n: '', e: 'AQAB' },
        ],
      }),
    )
    return true
  }
  silent.instead = () => true
  strict.instead = ({ url }, response) => {
    if (url !== '/.well-known/openid-configuration') return false
    const { issuer } = strict
    const endpoints = { authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` }
    response.setHeader('content-type', 'application/json')
    const required = { require_signed_request_object: true, code_challenge_methods_supported: ['plain'] }
    response.end(JSON.stringify({ issuer, ...endpoints, jwks_uri: `${issuer}/jwks`, ...required }))
    return true
  }
  const unsafe = await secure(t, expired)
  const self = await secure(t, yearly)
  const at = (issuer: string) => `issuer: "${issuer}", allow_insecure: true`
  const port = new URL(well.issuer).port
  const cases: (readonly [string, RegExp])[] = [
    [at(well.issuer), /^ok - tenants\.acme\.oidc\.issuer: http:\/\/127\.0\.0\.1:\d+, 4 usable keys$/],
    [
      at(late.issuer),
      /^warning clock_differs .*the clock of the provider at 127\.0\.0\.1:\d+ is 3(?:59|6\d)\d s behind the clock of this machine, so/,
    ],
    [
      at(`http://127.0.0.1:${await reservePort(t)}`),
      /the provider at \S+ refused the connection \(ECONNREFUSED\)\. Start the provider, or correct/,
    ],
    [
      at(`http://localhost:${port}`),
      /the discovery document names another issuer, http:\/\/127\.0\.0\.1:\d+\. Correct it at the provider/,
    ],
    [
      at(`${well.issuer}/`),
      /the discovery document names another issuer, http:\/\/127\.0\.0\.1:\d+\. Correct it/,
    ],
    [
      at(strict.issuer),
      /the provider at \S+: it requires signed request objects .* \(require_signed_request_object\); it offers other methods of PKCE alone, .* \(code_challenge_methods_supported: plain\)\. Correct it at the provider/,
    ],
    [at(wrong.issuer), /answered the request for its discovery document with 404\. Correct/],
    [
      at(keyless.issuer),
      /none of the provider's 2 keys verifies tokens of an algorithm that it advertises and this gateway accepts/,
    ],
    [at(silent.issuer), /the provider at \S+ has not responded in time/],
    [
      at(`https://127.0.0.1:${unsafe}`),
      /the certificate of the provider at \S+ has expired \(CERT_HAS_EXPIRED\)\. Renew the certificate/,
    ],
    [
      at(`https://localhost:${self}/untrusted`),
      /not from an authority that Node\.js knows \(\w+\)\. Name a file .* NODE_EXTRA_CA_CERTS\.$/,
    ],
  ]
  const folder = folderWith(t, files)
  const found = await Promise.all(
    cases.map(([oidc]) => {
      const env = oidc.includes(`:${unsafe}"`) ? { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') } : {}
      return online(t, { oidc, env })
    }),
  )
  for (const [index, [oidc, expected]] of cases.entries()) {
    const line = found[index]?.found.find((each) => each.includes('oidc.issuer')) ?? ''
    t.match(line, expected, oidc)
    const fine = /^\^(?:ok|warning)/.test(expected.source)
    t.equal(found[index]?.code, fine ? 0 : 1)
    if (!fine) t.match(line, /^fault provider_unavailable tenants\.acme\.oidc\.issuer: /)
  }
  t.equal(well.count('/token') + well.count('/auth'), 0)
})

t.test('targets', async (t) => {
  const inDays = (days: number) => new Date(Date.now() + days * DAY)
  const asked: string[] = []
  const plain = await listen(
    t,
    createHttp((request, response) => {
      asked.push(`${request.method} ${request.url} ${request.headers['user-agent']}`)
      response.writeHead(request.url === '/well' ? 204 : 503).end()
    }),
  )
  const ports = {
    yearly: await secure(t, yearly),
    soon: await secure(t, authority.issue({ names, notBefore: inDays(-60), notAfter: inDays(20) })),
    expired: await secure(t, expired),
    other: await secure(t, authority.issue({ names: ['other.example'], notBefore: inDays(-5) })),
    mutual: await secure(t, { ...yearly, ca: authority.cert, requestCert: true }),
    mutual12: await secure(t, { ...yearly, ca: authority.cert, requestCert: true, maxVersion: 'TLSv1.2' }),
  }
  const down = await reservePort(t)
  const frozen = await stopped(t, 511)
  const full = await stopped(t, 1)
  // A backlog of 1 holds two connections, and the system drops what comes then.
  const fillers = Array.from({ length: 8 }, () => connect(full.port, '127.0.0.1').on('error', () => {}))
  t.teardown(() => fillers.forEach((each) => each.destroy()))
  await Promise.race(fillers.map((each) => once(each, 'connect')))
  const https = (port: number, host = '127.0.0.1') => `targets: ["https://${host}:${port}"]`
  const http = (port: number) => `targets: ["http://127.0.0.1:${port}"]`
  const health = (path: string, timeout = '30s') => `health: { path: ${path}, timeout: ${timeout} }`
  const client = 'cert: cert.pem, key: key.pem'
  const cases: (readonly [string, RegExp])[] = [
    [http(plain), /^ok - upstreams\.trainings\.targets\[0\]: http:\/\/127\.0\.0\.1:\d+ accepts connections$/],
    [`${http(plain)}, ${health('/well')}`, /^ok - .* passes its health check, GET \/well$/],
    [
      `${http(plain)}, ${health('/ill')}`,
      /fails its health check, GET \/ill: status 503\. See the log of the service trainings, or correct upstreams\.trainings\.health\.$/,
    ],
    [
      http(down),
      /refused the connection \(ECONNREFUSED\)\. Start the service trainings, or correct host and port in upstreams\.trainings\.targets\[0\]\.$/,
    ],
    [http(frozen.port), /^ok - .* accepts connections$/],
    [
      `${http(frozen.port)}, ${health('/well', '700ms')}`,
      /fails its health check, GET \/well: no response within 700 ms\./,
    ],
    [
      `${http(full.port)}, connect_timeout: 700ms`,
      /has not responded in time\. Check that the service trainings runs/,
    ],
    [`${https(ports.yearly)}, ${trusted}`, /^ok - /],
    [
      `${https(ports.soon)}, ${trusted}`,
      /^warning certificate_expires .*the certificate of https:\/\/\S+ expires on 20\d\d-\d\d-\d\d\. Renew the certificate of the service trainings\.$/,
    ],
    [`${https(ports.soon)}, tls: { insecure_skip_verify: true }`, /^ok - /],
    [
      `${https(ports.expired)}, ${trusted}`,
      /the certificate of https:\/\/\S+ has expired \(CERT_HAS_EXPIRED\)\. Renew the certificate of the service trainings, and check the clock/,
    ],
    [
      https(ports.yearly),
      /not from an authority that this gateway knows \(\w+\)\. Name a file with the authority's certificate as upstreams\.trainings\.tls\.ca\.$/,
    ],
    [
      `${https(ports.other)}, ${trusted}`,
      /is for other names than 127\.0\.0\.1 .*Name one of its names as upstreams\.trainings\.tls\.server_name/,
    ],
    [
      `${https(ports.other)}, tls: { ca: ca.pem, server_name: other.example }`,
      /^warning certificate_expires /,
    ],
    [
      `${https(ports.mutual)}, ${trusted}`,
      /requires a client certificate, and none is given\. Name certificate and key as upstreams|closed the connection/,
    ],
    [`${https(ports.mutual)}, tls: { ca: ca.pem, ${client} }`, /^ok - /],
    [
      `${https(ports.mutual12)}, ${trusted}`,
      /requires a client certificate|closed the connection|handshake/i,
    ],
    [
      https(plain),
      /does not answer the TLS handshake \(\w+\)\. Write http:\/\/127\.0\.0\.1:\d+ in upstreams/,
    ],
  ]
  const found = await Promise.all(cases.map(([upstream]) => online(t, { upstream, files })))
  for (const [index, [upstream, expected]] of cases.entries()) {
    const line = found[index]?.found[1] ?? ''
    t.match(line, expected, upstream)
    const fine = /^\^(?:ok|warning)/.test(expected.source)
    t.equal(found[index]?.code, fine ? 0 : 1)
    if (!fine) t.match(line, /^fault target_unavailable upstreams\.trainings\.targets\[0\]: /)
  }
  t.same(
    asked.toSorted(),
    ['GET /ill seatgate-health', 'GET /well seatgate-health'],
    'nothing else was asked for',
  )
})

t.test('all of it at once, in every format', async (t) => {
  const down = await reservePort(t)
  const parts: Parts = {
    redis: `redis://:${PASSWORD}@127.0.0.1:${down}`,
    oidc: `issuer: "http://127.0.0.1:${down}", allow_insecure: true`,
    upstream: `targets: ["\${TARGET}", "http://[::1]:${down}"]`,
  }
  const env = { REDIS: parts.redis ?? '', TARGET: `http://127.0.0.1:${down}` }
  const text = configuration(parts)
  const cwd = folderWith(t, { 'gateway.config.yaml': text, 'routes.yaml': ROUTES })
  const run = (...args: string[]) => seatgateHere(cwd, ['check', '--online', ...args], env)
  const plain = await run()
  t.equal(plain.code, 1)
  t.equal(plain.out, '')
  const printed = plain.err.trim().split('\n')
  t.same(
    printed.slice(0, -1).map((line) => /\[(\w+)\]$/.exec(line)?.[1]),
    [
      'store_missing',
      'redis_unavailable',
      'provider_unavailable',
      'target_unavailable',
      'target_unavailable',
    ],
  )
  t.equal(printed.at(-1), 'gateway.config.yaml: 4 faults, 1 warning')
  t.match(
    plain.err,
    /^gateway\.config\.yaml:7:\d+: upstreams\.trainings\.targets\[0\]: http:\S+ refused .*correct host and port in \$\{TARGET\}\. \[target_unavailable\]$/m,
  )
  const github = await run('--format', 'github')
  t.match(github, { code: 1, err: '' })
  t.equal(github.out.match(/^::error file=gateway\.config\.yaml,line=\d+,col=\d+::/gm)?.length, 4)
  t.match(JSON.parse((await run('--format', 'sarif')).out), {
    runs: [
      {
        results: [
          { ruleId: 'redis_unavailable', level: 'error' },
          {},
          {},
          {},
          { ruleId: 'store_missing', level: 'warning' },
        ],
      },
    ],
  })

  const accepting = text
    .replace('store:', '# seatgate: accept store_missing\nstore:')
    .replace('redis:', '# seatgate: accept redis_unavailable\nredis:')
    .replace('    oidc:', '    # seatgate: accept provider_unavailable\n    oidc:')
    .replace('upstreams:', '# seatgate: accept target_unavailable\nupstreams:')
  writeFileSync(join(cwd, 'gateway.config.yaml'), accepting)
  const accepted = await run('--strict')
  t.match(accepted, { code: 0, err: '' })
  const lines = accepted.out.trim().split('\n')
  t.equal(lines.filter((line) => / accepted: .*\[\w+\]$/.test(line)).length, 5)
  t.equal(lines.at(-1), 'gateway.config.yaml: no faults (3 routes, 1 upstream)')

  writeFileSync(join(cwd, 'gateway.config.yaml'), text.replace('listen:', 'listn:'))
  t.match(
    await run(),
    {
      code: 1,
      err: /^[^\n]*nothing was asked[^\n]*\ngateway\.config\.yaml:1:1: [^\n]*\n(?:[^\n]*\n)?gateway\.config\.yaml: \d faults?\n$/,
    },
    'a faulty file',
  )
  writeFileSync(join(cwd, 'gateway.config.yaml'), text)
  t.match(await run('--no-env'), {
    code: 2,
    out: '',
    err: /^seatgate check: --online and --no-env exclude each other/,
  })
})
