/** Real servers for the tests of the proxy: upstreams, and a server that only forwards. */

import { createServer, type RequestListener } from 'node:http'
import * as net from 'node:net'
import { performance } from 'node:perf_hooks'
import type { Test } from 'tap'
import type { UpstreamConfig, UpstreamTls } from '../../src/config/config.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import { type Decision, type Evaluation, PathParams } from '../../src/model/decision.ts'
import type { Principal } from '../../src/model/principal.ts'
import { type Route, UNSCOPED } from '../../src/model/route.ts'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import type { ClientResponse } from '../../src/http/server/client-response.ts'
import { forward, type Refuse } from '../../src/proxy/forward.ts'
import type { UpstreamOptions } from '../../src/proxy/upstream-options.ts'
import { Upstream } from '../../src/proxy/upstream.ts'
import { writeProblem } from '../../src/http/server/problem.ts'
import { isAwaited, openListener } from '../support/listener.ts'
import { listen } from '../support/listen.ts'
import { roundTrip } from '../support/raw-client.ts'
import { fieldsOf as fieldsOfLines } from '../support/responses.ts'
import { upstreamEnd } from './hop.ts'

export const ALICE: Principal = {
  method: 'bearer',
  tenant: 'acme',
  user: 'alice',
  email: 'alice@acme.example',
  claims: { by: 'name', entries: new Map(), issuedAt: 0 },
  owner: 'alice',
  issuedAt: 0,
  session: null,
  validUntil: null,
}

export function upstreamConfig(port: number, more: Partial<UpstreamConfig> = {}): UpstreamConfig {
  return {
    name: 'trainings',
    targets: [new URL(`http://127.0.0.1:${port}`)],
    basePath: '',
    protocol: 'http1',
    connectTimeout: 30_000,
    responseTimeout: 60_000,
    bodyTimeout: 60_000,
    balance: 'least-pending',
    connections: 256,
    uploads: Math.ceil((more.connections ?? 256) / 2),
    evictionDelay: 500,
    maxPending: 1024,
    websocketIdle: 300_000,
    websocketLifetime: 86_400_000,
    health: null,
    tls: null,
    passAuthorization: false,
    passHost: false,
    passOverrides: false,
    allowSemicolons: false,
    allowEncodedSlashes: false,
    ...more,
  }
}

/** For `config`: an upstream of several targets. */
export function targetsAt(...ports: number[]): Pick<UpstreamConfig, 'targets'> {
  return { targets: ports.map((port) => new URL(`http://127.0.0.1:${port}`)) }
}

export function routeTo(more: Partial<Route> = {}): Route {
  return {
    id: 'ANY /*',
    method: 'ANY',
    path: '/*',
    requirement: 'trainings:read',
    target: { kind: 'upstream', name: 'trainings' },
    maxBody: Infinity,
    responseTimeout: null,
    ...UNSCOPED,
    signIn: null,
    cors: null,
    place: null,
    ...more,
  }
}

export function evaluationOf(request: ClientRequest, route: Route, more: Partial<Decision> = {}): Evaluation {
  const [path = '', ...query] = request.url.split('?')
  const isPublic = route.requirement === 'public'
  return {
    decision: {
      answer: 'allow',
      code: 'allow',
      reason: '',
      method: request.method,
      path,
      route,
      permission: route.requirement,
      principal: isPublic ? null : ALICE,
      space: isPublic ? null : 'north',
      seats: [{ name: 'Trainer', id: '1', verdict: 'grants' }],
      grantedIn: [],
      source: 'memory',
      timings: { match: 0, authenticate: 0, resolve: 0, decide: 0, total: 0 },
      config: null,
      ...more,
    },
    refusal: null,
    grants: null,
    caller: null,
    params: PathParams.none,
    query: query.length === 0 ? '' : `?${query.join('?')}`,
    cors: null,
    preflight: null,
  }
}

/** An upstream on Node's HTTP server. Closed with the test. */
export function serve(t: Test, listener: RequestListener): Promise<number> {
  return listen(t, createServer({ keepAliveTimeout: 60_000 }, listener))
}

/** An upstream that reads and writes bytes. Closed with the test. */
export function serveRaw(t: Pick<Test, 'teardown'>, onSocket: (socket: net.Socket) => void): Promise<number> {
  const onConnection = (connection: net.Socket) => onSocket(upstreamEnd(connection).on('error', () => {}))
  return listen(t, net.createServer({ noDelay: true }, onConnection))
}

/** Sends the same bytes in response to each request on a connection. */
export function answering(t: Test, bytes: string): Promise<number> {
  return serveRaw(t, (socket) => socket.on('data', () => socket.write(bytes, 'latin1')))
}

export type Front = Awaited<ReturnType<typeof front>>

export interface FrontOptions extends UpstreamOptions, Partial<Omit<UpstreamConfig, 'tls'>> {
  readonly tls?: Partial<UpstreamTls> | null
  readonly route?: Partial<Route>
  readonly decision?: Partial<Decision>
  /** The client speaks HTTP/2. */
  readonly http2?: boolean
}

/** A server that allows everything and forwards it to the port. */
export async function front(t: Test, port: number, options: FrontOptions = {}) {
  const { tls = null, route: routed, decision, http2 = false, ...given } = options
  const noTls = { ca: null, cert: null, key: null, serverName: null, insecureSkipVerify: false }
  const config = { ...given, tls: tls === null ? null : { ...noTls, ...tls } }
  const upstream = new Upstream(upstreamConfig(port, config), given)
  const route = routeTo(routed)
  const exchanges: Exchange[] = []
  const handle = (request: ClientRequest, response: ClientResponse) => {
    const id = `id-${exchanges.length + 1}`
    const exchange = new Exchange(request, response, id, performance.now(), isAwaited(request))
    exchange.evaluation = evaluationOf(request, route, decision)
    exchanges.push(exchange)
    forward(exchange, upstream, refuse)
    return exchange
  }
  const listener = await openListener(
    handle,
    { headerBytes: 128 * 1024 },
    { settings: { priorKnowledge: http2 } },
  )
  t.teardown(async () => {
    await listener.close(0)
    await upstream.destroy()
  })
  return { port: listener.address.port, upstream, exchanges }
}

/** As in the pipeline. */
export const refuse: Refuse = (exchange, refusal, cause) => {
  const { request, response } = exchange
  if (exchange.refusal !== null) return
  exchange.refusal = refusal
  exchange.cause = cause
  if (response.headersSent) response.destroy()
  else if (!response.destroyed)
    writeProblem(request, response, refusal, exchange.id, exchange.expectsContinue)
}

export function codeOf(answer: string): string | undefined {
  return /"code":"(\w+)"/.exec(answer)?.[1]
}

/** The header lines of a response or a request, lower-case names. */
export function fieldsOf(message: string): [string, string][] {
  const [head = ''] = message.split('\r\n\r\n')
  return fieldsOfLines(head.slice(head.indexOf('\r\n')))
}

export function valuesOf(message: string, name: string): string[] {
  return fieldsOf(message)
    .filter(([field]) => field === name)
    .map(([, value]) => value)
}

/** Turns of the event loop. Bytes that can still move on loopback do so in each. */
const QUIET_TURNS = 100

/** The value of a counter once it stays the same. */
export async function standstill(count: () => number): Promise<number> {
  let last = count()
  for (let turn = 0; turn < QUIET_TURNS; turn++) {
    await new Promise(setImmediate)
    if (count() === last) continue
    last = count()
    turn = 0
  }
  return last
}

/** The bytes that a raw upstream receives for this request. */
export async function seenBy(t: Test, request: string, options: FrontOptions = {}): Promise<string> {
  let seen = ''
  const port = await serveRaw(t, (socket) =>
    socket.on('data', (bytes) => {
      seen += bytes.toString('latin1')
      if (seen.includes('\r\n\r\n')) socket.end('HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n')
    }),
  )
  const { port: gatewayPort } = await front(t, port, options)
  await roundTrip(gatewayPort, request)
  return seen
}

/** A GET with these lines; closes after it. */
export function get(...lines: string[]): string {
  return ['GET /a HTTP/1.1', 'Host: gw.example', ...lines, 'Connection: close', '', ''].join('\r\n')
}
