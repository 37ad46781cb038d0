/** What is asked of the peers: each workload a kind of request, and what it takes of the set-up. Run by `run.ts`. */

import { mkdirSync } from 'node:fs'
import { type Requests, type RequestsSetup, writeRequests } from './requests.ts'
import { routePath, SEATS, SPACE, seatName } from './names.ts'
import { token, type TokenSetup, type World } from './world.ts'

export interface Workload {
  /** As `--only` takes it. */
  readonly name: string
  /** In the table. */
  readonly label: string
  /** Status of every answer. */
  readonly expected: 200 | 401 | 403
  /** Entries of Seatgate's table. */
  readonly routes: number
  /** Cores that the peer may use. */
  readonly workers: number
  /** The upstream is spoken to by TLS. */
  readonly tls: boolean
  /** Peers beside Seatgate that can do it, by name; 'all' of them. */
  readonly rivals: readonly string[] | 'all'
  /** In the short run too. */
  readonly quick: boolean
  /** Of a run: of its warm-up and of what is measured. */
  requests(world: World, folder: string): RunRequests
}

export interface RunRequests {
  readonly warmUp: Requests
  readonly measured: Requests
}

const ROUTES = 10_000
/** Who else knows tokens, fastest first. */
const VERIFIERS = ['haproxy-jwt', 'nginx-auth-request']
/** For each part of a run: three seconds of what the fastest verify on a core, and a little more. */
const NEW_TOKENS = 160_000

const DEFAULTS = {
  expected: 200,
  routes: ROUTES,
  workers: 1,
  tls: false,
  rivals: VERIFIERS,
  quick: false,
} as const

interface WorkloadSetup extends Partial<Omit<Workload, 'requests' | 'name' | 'label'>> {
  readonly each: (world: World) => RequestsSetup['each']
  readonly more?: Partial<Omit<RequestsSetup, 'each'>>
}

function workload(name: string, label: string, { each, more = {}, ...rest }: WorkloadSetup): Workload {
  const requests = (world: World, folder: string) => {
    mkdirSync(folder, { recursive: true })
    const setup = { headers: [`Space: ${SPACE}`], ...more, each: each(world) }
    const all = writeRequests(folder, `${name}.txt`, setup)
    return { warmUp: all, measured: all }
  }
  return { ...DEFAULTS, ...rest, name, label, requests }
}

const PATH = '/v1/trainings/7'

const bearer = (world: World, setup?: TokenSetup) => `Authorization: Bearer ${token(world, setup)}`
const one = (path: string, setup?: TokenSetup) => (world: World) => [[path, bearer(world, setup)] as const]
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i)
const userOf = (number: number): TokenSetup => ({
  user: `user-${number}`,
  hashPerm: [`${SPACE}:${seatName(number % SEATS)}`],
})

/** The one that the table of peers rests on. */
export const oneToken = workload('one-token', 'one token, 10,000 routes', {
  rivals: 'all',
  quick: true,
  each: one(PATH),
})

/** The flood is of these too. */
export const badTokens = workload('bad-tokens', '401: 1,000 tokens signed by somebody else', {
  expected: 401,
  quick: true,
  each: (world) => {
    const secret = 'x'.repeat(64)
    return numbers(1000).map((i) => [PATH, bearer(world, { ...userOf(i), secret })])
  },
})

/** Each token once. */
const newTokens: Workload = {
  ...DEFAULTS,
  name: 'new-tokens',
  label: 'every request a token never seen',
  quick: true,
  requests(world, folder) {
    mkdirSync(folder, { recursive: true })
    const headers = [`Space: ${SPACE}`]
    const list = (name: string, first: number, count: number) => {
      const each = numbers(count).map((i) => [PATH, bearer(world, userOf(first + i))] as const)
      return writeRequests(folder, name, { headers, once: true, each })
    }
    return {
      warmUp: list('new-tokens-1.txt', 0, NEW_TOKENS),
      measured: list('new-tokens-2.txt', NEW_TOKENS, NEW_TOKENS),
    }
  },
}

const entries = numbers(150).map((i) => `${i < 75 ? SPACE : 's2'}:${seatName(i)}`)

export const workloads: readonly Workload[] = [
  oneToken,
  workload('many-tokens', '5,000 tokens and Seats in turn', {
    quick: true,
    each: (world) => numbers(SEATS).map((i) => [PATH, bearer(world, userOf(i))]),
  }),
  newTokens,
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
        return numbers(used).map((i) => [`${routePath(Math.floor((i * routes) / (used + 4)))}/7`, credential])
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
  workload('uploads-16k', 'uploads of 16 KiB', { each: one(PATH), more: { method: 'POST', body: 16_384 } }),
  workload('forbidden', '403: no Seat in the space', {
    expected: 403,
    each: one(PATH, { hashPerm: [`s2:${seatName(0)}`] }),
  }),
  badTokens,
  workload('no-token', '401: no credential', { rivals: [], expected: 401, each: () => [[PATH, '']] }),
  workload('no-keep-alive', 'a connection a request', {
    each: one(PATH),
    more: { headers: [`Space: ${SPACE}`, 'Connection: close'] },
  }),
  workload('tls-upstream', 'TLS to the upstream', { tls: true, each: one(PATH) }),
  workload('two-workers', '2 workers on 2 cores', { workers: 2, each: one(PATH) }),
]
