/** The requests to the peers: each workload is a kind of request, with its set-up. */

import { mixedRequests } from './mixed/requests.ts'
import type { Client } from './load-settings.ts'
import { routeEntry, SEATS, SPACE, seatName } from './names.ts'
import { NEW_TOKEN, type PlannedRequest, type Requests, type Status, writeRequests } from './requests.ts'
import type { Upstreams } from './upstreams.ts'
import { token, type TokenSetup, type World } from './world.ts'

export interface Workload {
  /** Its name for `--only`. */
  readonly name: string
  /** Its row in the table. */
  readonly label: string
  /** Entries of Seatgate's table. */
  readonly routes: number
  /** Cores that the peer may use. */
  readonly workers: number
  readonly client: Client
  readonly upstream: Exclude<keyof Upstreams, 'by'>
  /** Names of the other peers that support it, or 'all' of them. */
  readonly rivals: readonly string[] | 'all'
  /** Whether the short run has it. */
  readonly quick: boolean
  /**
   * The requests of a run.
   *
   * @param apiKeys the peer supports them
   */
  requests(world: World, folder: string, apiKeys: boolean): Requests
}

const ROUTES = 10_000
/** Other peers that check tokens, fastest first. */
const VERIFIERS = ['haproxy-jwt', 'nginx-auth-request', 'nginx-decision']
/**
 * Half of them for the warm-up; the other half is slightly more than the fastest peer verifies on a core in
 * three seconds.
 */
const NEW_TOKENS = 360_000

const DEFAULTS = {
  routes: ROUTES,
  workers: 1,
  client: 'http1',
  upstream: 'plain',
  rivals: VERIFIERS,
  quick: false,
} as const

interface WorkloadSetup extends Partial<Omit<Workload, 'requests' | 'name' | 'label'>> {
  readonly each: (world: World) => readonly (readonly [path: string, credential: string])[]
  /** What all requests have in addition. */
  readonly more?: Partial<PlannedRequest>
  readonly newTokens?: (world: World) => readonly string[]
}

function workload(name: string, label: string, setup: WorkloadSetup): Workload {
  const { each, more = {}, newTokens = () => [], ...rest } = setup
  const requests = (world: World, folder: string) => {
    const all = each(world).map(([path, credential]) => {
      const lines = [`Space: ${SPACE}`, ...(more.headers ?? []), ...(credential === '' ? [] : [credential])]
      return { ...more, path, headers: lines }
    })
    return writeRequests(folder, name, all, newTokens(world))
  }
  return { ...DEFAULTS, ...rest, name, label, requests }
}

const refused = (status: Status) => ({ more: { status } })

const PATH = '/v1/trainings/7'

const bearer = (world: World, setup?: TokenSetup) => `Authorization: Bearer ${token(world, setup)}`
const one = (path: string, setup?: TokenSetup) => (world: World) => [[path, bearer(world, setup)] as const]
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const userOf = (number: number): TokenSetup => ({
  user: `user-${number}`,
  hashPerm: [`${SPACE}:${seatName(number % SEATS)}`],
})

/** Traffic behind a load balancer: the workload of the table of peers. */
export const mixed: Workload = {
  ...DEFAULTS,
  name: 'mixed',
  label: 'mixed: 5,000 tokens, 100 API keys, 300 routes',
  upstream: 'mixed',
  rivals: 'all',
  quick: true,
  requests: mixedRequests,
}

export const oneToken = workload('one-token', 'one token, 10,000 routes', {
  rivals: ['seatgate-open', ...VERIFIERS, 'nginx', 'haproxy'],
  quick: true,
  each: one(PATH),
})

/** The flood uses these requests too. */
export const badTokens = workload('bad-tokens', '401: 1,000 tokens signed by another key', {
  ...refused(401),
  quick: true,
  each: (world) => {
    const secret = 'x'.repeat(64)
    return numbers(1000).map((i) => [PATH, bearer(world, { ...userOf(i), secret })])
  },
})

const entries = numbers(150).map((i) => `${i < 75 ? SPACE : 's2'}:${seatName(i)}`)

export const workloads: readonly Workload[] = [
  mixed,
  oneToken,
  workload('many-tokens', '5,000 tokens and Seats in turn', {
    quick: true,
    each: (world) => numbers(SEATS).map((i) => [PATH, bearer(world, userOf(i))]),
  }),
  workload('new-tokens', 'every request a token never seen', {
    quick: true,
    each: () => [[PATH, `Authorization: Bearer ${NEW_TOKEN}`]],
    newTokens: (world) => numbers(NEW_TOKENS).map((i) => token(world, userOf(i))),
  }),
  workload('long-token', 'a token with 150 entries, 75 of them in the space', {
    each: one(PATH, { hashPerm: entries }),
  }),
  ...[10, 1000, 10_000].map((routes) =>
    workload(`routes-${routes}`, `${routes.toLocaleString('en')} routes, up to 1,000 in turn`, {
      routes,
      rivals: [],
      each: (world) => {
        const credential = bearer(world)
        const used = Math.min(1000, routes - 4)
        const paths = numbers(used).map((i) => routeEntry(Math.floor((i * routes) / (used + 4))).path)
        return paths.map((path) => [`${path}/7`, credential])
      },
    }),
  ),
  workload('api-keys', '100 API keys in turn', {
    rivals: [],
    quick: true,
    each: ({ apiKeys }) => apiKeys.map((key) => [PATH, `x-api-key: ${key}`]),
  }),
  workload('public', 'a public route', { rivals: [], each: () => [['/open/7', '']] }),
  workload('answers-1k', 'answers of 1 KiB', { rivals: [], each: one('/v1/sizes/1k') }),
  workload('answers-64k', 'answers of 64 KiB', { quick: true, each: one('/v1/sizes/64k') }),
  workload('uploads-16k', 'uploads of 16 KiB', {
    quick: true,
    each: one(PATH),
    more: { method: 'POST', body: 16_384 },
  }),
  workload('websockets', 'a WebSocket message of 64 bytes and its echo', {
    client: 'websocket',
    upstream: 'websocket',
    rivals: ['haproxy-jwt', 'haproxy', 'nginx-auth-request', 'nginx', 'caddy'],
    quick: true,
    each: one(PATH),
  }),
  workload('forbidden', '403: no Seat in the space', {
    ...refused(403),
    each: one(PATH, { hashPerm: [`s2:${seatName(0)}`] }),
  }),
  badTokens,
  workload('no-token', '401: no credential', { rivals: [], ...refused(401), each: () => [[PATH, '']] }),
  workload('no-keep-alive', 'a connection a request', {
    each: one(PATH),
    more: { headers: ['Connection: close'] },
  }),
  workload('tls-upstream', 'TLS to the upstream', { upstream: 'tls', each: one(PATH) }),
  ...(
    [
      ['tls-http1', 'TLS, HTTP/1.1'],
      ['tls-http2', 'TLS, HTTP/2, 16 streams a connection'],
      ['tls-connections', 'a TLS connection a request, full handshake'],
      ['tls-resumptions', 'a TLS connection a request, resumed session'],
    ] as const
  ).map(([client, label]) => workload(client, label, { client, each: one(PATH) })),
  workload('grpc-unary', 'gRPC unary, TLS to h2c', {
    client: 'grpc',
    upstream: 'grpc',
    each: one(PATH),
    more: { method: 'POST' },
  }),
  workload('two-workers', '2 workers on 2 cores', { workers: 2, each: one(PATH) }),
]
