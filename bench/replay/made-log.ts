/** An access log of any length, as a gateway in production writes it, and the tables and Seats that it was decided with. */

import { createWriteStream, mkdirSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'

const SPACES = ['main', 'north', 'south', 'archive']
const RESOURCES = ['trainings', 'courses', 'people', 'rooms', 'bookings', 'reports', 'files', 'invoices']
const VERBS = [
  ['GET', '', 'list'],
  ['POST', '', 'create'],
  ['GET', '/{id}', 'read'],
  ['PUT', '/{id}', 'update'],
  ['DELETE', '/{id}', 'delete'],
  ['GET', '/{id}/history', 'read'],
] as const
/** Seat → its verbs, for all resources. */
const SEATS = {
  Viewer: ['list', 'read'],
  Editor: ['list', 'read', 'create', 'update'],
  Owner: ['*'],
} as const

type SeatName = keyof typeof SEATS

/** A folder with `gateway.config.yaml`, its tables and `seats.yaml`, for which each answer of the log stays. */
export function writeTables(folder: string): void {
  mkdirSync(join(folder, 'routes'), { recursive: true })
  const entries = RESOURCES.flatMap((resource) =>
    VERBS.map(([method, rest, verb]) => `  ${method} /v1/${resource}${rest}: ${resource}:${verb}`),
  )
  const table = [
    'upstream: app',
    'routes:',
    ...entries,
    '  GET /v1/me: authenticated',
    '  GET /docs/*: public',
  ]
  writeFileSync(join(folder, 'routes/app.yaml'), `${table.join('\n')}\n`)
  writeFileSync(
    join(folder, 'gateway.config.yaml'),
    `tenants:
  acme: { token: { secrets: ["\${ACME_SECRET}"] } }
upstreams:
  app: { targets: [http://127.0.0.1:9] }
routes: [routes/*.yaml]
`,
  )
  const seats = Object.entries(SEATS).map(([name, verbs]) => {
    const permissions = verbs.flatMap((verb) =>
      verb === '*' ? [verb] : RESOURCES.map((resource) => `${resource}:${verb}`),
    )
    return [name, { spaces: SPACES, permissions }]
  })
  writeFileSync(
    join(folder, 'seats.yaml'),
    JSON.stringify({ tenant: 'acme', seats: Object.fromEntries(seats) }),
  )
}

/** A linear congruential generator: the same log each time. */
class Random {
  #state = 1

  below(most: number): number {
    this.#state = (Math.imul(this.#state, 1664525) + 1013904223) >>> 0
    return Math.floor((this.#state / 2 ** 32) * most)
  }

  of<V>(values: readonly [V, ...V[]] | readonly V[]): V {
    return values[this.below(values.length)] as V
  }

  id(): string {
    return (this.below(2 ** 32) * 2 ** 16 + this.below(2 ** 16)).toString(32).padStart(10, '0')
  }
}

export async function writeLog(path: string, lines: number): Promise<void> {
  const random = new Random()
  const output = createWriteStream(path)
  let time = Date.UTC(2026, 0, 5)
  for (let left = lines; left > 0;) {
    const batch = Array.from({ length: Math.min(left, 1000) }, () => lineOf(random, (time += 3)))
    left -= batch.length
    if (!output.write(batch.join(''))) await once(output, 'drain')
  }
  output.end()
  await once(output, 'close')
}

function lineOf(random: Random, time: number): string {
  const request = requestOf(random)
  const upstream = request.code === 'allow' ? `,"upstream_ms":${random.below(90_000) / 1000}` : ''
  const id = `${random.id()}-4000-8${random.id()}`
  const text = `"request_id":"${id}","method":"${request.method}","path":"${request.path}","status":${request.status},"code":"${request.code}","duration_ms":${random.below(100_000) / 1000},"decision_us":${20 + random.below(50)}${upstream},"bytes_in":0,"bytes_out":${random.below(9000)},"client":"10.0.${random.below(200)}.${random.below(250)}"${request.caller}`
  return `{"level":"info","time":"${new Date(time).toISOString()}",${text},"msg":"request"}\n`
}

interface Made {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly code: string
  /** The fields of the route and the caller. */
  readonly caller: string
}

function requestOf(random: Random): Made {
  const kind = random.below(100)
  if (kind < 2)
    return { method: 'GET', path: `/wp-${random.id()}`, status: 404, code: 'route_not_found', caller: '' }
  if (kind < 8) {
    const path = `/docs/${random.of(['index.html', 'guide.html', 'style.css', 'logo.svg'])}`
    const caller = ',"route":"GET /docs/*","upstream":"app","permission":"public"'
    return { method: 'GET', path, status: 200, code: 'allow', caller }
  }
  const space = random.of(SPACES)
  if (kind < 12) {
    const route = ',"route":"GET /v1/me","upstream":"app","permission":"authenticated"'
    const names = seatsOf(random).map((name) => `"${name}:named"`)
    const caller = `${route}${userOf(random)},"space":"${space}","source":"memory","seats":[${names.join(',')}]`
    return { method: 'GET', path: '/v1/me', status: 200, code: 'allow', caller }
  }
  const resource = random.of(RESOURCES)
  const [method, rest, verb] = random.of(VERBS)
  const route = `,"route":"${method} /v1/${resource}${rest}","upstream":"app","permission":"${resource}:${verb}"`
  const path = `/v1/${resource}${rest.replace('{id}', random.id())}`
  if (kind < 14) return { method, path, status: 401, code: 'token_expired', caller: route }
  const names = seatsOf(random)
  const grants = (name: SeatName) => SEATS[name].some((each) => each === '*' || each === verb)
  const verdicts = names.map((name) => `"${name}:${grants(name) ? 'grants' : 'lacks_permission'}"`)
  const caller = `${route}${userOf(random)},"space":"${space}","source":"memory","seats":[${verdicts.join(',')}]`
  const isAllowed = names.some(grants)
  return {
    method,
    path,
    status: isAllowed ? 200 : 403,
    code: isAllowed ? 'allow' : 'permission_denied',
    caller,
  }
}

function seatsOf(random: Random): SeatName[] {
  return random.of([['Viewer'], ['Viewer', 'Editor'], ['Editor'], ['Owner'], ['Viewer', 'Owner']])
}

/** Most of 20,000 users by tokens of an hour each; some machines by API keys. */
function userOf(random: Random): string {
  if (random.below(10) === 0)
    return `,"tenant":"acme","user":"01JG${random.below(50)}","auth":"bearer","issued_at":1767571200,"any_space":true`
  const user = random.below(20_000)
  return `,"tenant":"acme","user":"user-${user}@acme.example","auth":"bearer","issued_at":${1767571200 + (user % 3600)}`
}
