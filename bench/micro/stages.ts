/** The cost of each stage of a request by itself, in nanoseconds, on the gateway's own code and objects. */

import { join } from 'node:path'
import { BearerTokens } from '../../src/decision/authn/bearer.ts'
import { authorize, resolve } from '../../src/decision/authorize.ts'
import { TrustedProxies } from '../../src/proxy/forwarded.ts'
import type { ResponseHead } from '../../src/http/client/upstream-request.ts'
import { requestHeaders } from '../../src/proxy/request-headers.ts'
import { responseHeaders } from '../../src/proxy/response-headers.ts'
import { readTarget } from '../../src/decision/router/path.ts'
import { compileTable } from '../../src/decision/router/table.ts'
import { canonicalHost } from '../../src/model/host.ts'
import { AccessLog } from '../../src/telemetry/access-log.ts'
import { openLog } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { ProcessActivity } from '../../src/telemetry/process-activity.ts'
import { PERMISSION, SPACE } from '../names.ts'
import { token, type World } from '../world.ts'
import { SeatQuestion } from '../../src/model/decision-seat.ts'
import { identityStages } from './identity.ts'
import { exchangeWith, Subject, TARGET } from './subject.ts'
import { type Cost, costsOf, repeated, type Timed } from './timing.ts'
import { tracingStages } from './tracing.ts'
import { fieldTable } from '../../test/support/field-table.ts'
import { DecisionReads } from '../../src/decision/seats/decision-reads.ts'

export type StageCost = Cost

/** Tokens that are verified in turn: more than fit into this number of bytes, so that none is cached. */
const TOKENS = 4000
const MEMORY = 2 ** 20

/** A response of an upstream. */
const ANSWERED: ResponseHead = {
  status: 200,
  phrase: 'OK',
  fields: fieldTable(
    ...['Server', 'nginx', 'Date', 'Sat, 21 Nov 2026 11:00:00 GMT', 'Content-Type', 'application/json'],
    ...['Content-Length', '70', 'Connection', 'keep-alive'],
  ),
}

export async function stageCosts(world: World, folder: string, rounds: number): Promise<StageCost[]> {
  const subject = await Subject.open(world, join(folder, 'stages'))
  const log = await openLog({ pretty: false, destination: '/dev/null' })
  try {
    const stages = await stagesOf(subject, world, new AccessLog(log.line))
    return await costsOf(stages, rounds, subject.lease)
  } finally {
    await log.close()
    await subject.close()
  }
}

async function stagesOf(subject: Subject, world: World, log: AccessLog): Promise<Timed[]> {
  const authorization = `Bearer ${token(world)}`
  const ask = subject.ask()
  const evaluation = await subject.meet(ask)
  const exchange = await exchangeWith(evaluation, authorization)
  const { config, compiled, decisionPoint } = subject
  const { principal, path } = evaluation.decision
  const upstream = config.upstreams.get('main')
  if (principal === null || upstream === undefined) throw new Error('nothing was decided')
  const query = new SeatQuestion(SPACE, PERMISSION)
  const resolved = await resolve(
    decisionPoint.memory,
    principal,
    query,
    new DecisionReads(decisionPoint.memory.received),
  )
  const proxies = new TrustedProxies([])
  const metrics = new Metrics()
  const activity = new ProcessActivity()
  const now = exchange.startedAt + 2
  return [
    repeated('read the target', () => readTarget(TARGET, 'gw.example', 8192)),
    repeated('match it among 10,000 routes', () => compiled.table.match('GET', path)),
    byHost(subject, path),
    await tokenHit(subject, authorization),
    tokenMiss(subject, world),
    repeated('resolve a Seat', () =>
      resolve(decisionPoint.memory, principal, query, new DecisionReads(decisionPoint.memory.received)),
    ),
    repeated('decide', () => authorize(resolved, SPACE, PERMISSION)),
    repeated('judge: all of the above, token known', () => subject.engine(ask)),
    repeated('headers to the upstream', () =>
      requestHeaders(exchange, upstream, proxies).map(({ text }) => text),
    ),
    ...identityStages((signed) =>
      requestHeaders(exchange, upstream, proxies, signed).map(({ text }) => text),
    ),
    repeated('headers to the client', () => responseHeaders(ANSWERED, true)),
    repeated('a line of the access log, written', () => log.write(exchange)),
    repeated('the use of the route, and the newest decisions', () =>
      activity.decided(exchange.id, evaluation.decision, null),
    ),
    repeated('metrics', () => {
      metrics.requestStarted()
      metrics.countRequest(exchange, now)
    }),
    ...tracingStages(exchange),
  ]
}

const HOSTS = 100

/** A match of the same routes, distributed over many hosts. The host is read from the authority too. */
function byHost({ config, compiled }: Subject, path: string): Timed {
  const id = compiled.table.match('GET', path)?.route.id
  const of = (at: number) => `h${at % HOSTS}.example`
  const entries = config.routes.map((entry, at) => ({ ...entry, hosts: [of(at)] }))
  const { table } = compileTable(entries, config.upstreams, [])
  const authority = `${of(config.routes.findIndex(({ method, path: each }) => `${method} ${each}` === id))}:8080`
  if (table.match('GET', path, canonicalHost(authority)) === null)
    throw new Error('no entry of the host matches')
  return repeated(`match it among 10,000 routes of ${HOSTS} hosts, host read`, () =>
    table.match('GET', path, canonicalHost(authority)),
  )
}

function tokensOf({ config: { tenants, defaultTenant } }: Subject): BearerTokens {
  return new BearerTokens({ tenants, defaultTenant, now: Date.now, memory: MEMORY })
}

async function tokenHit(subject: Subject, authorization: string): Promise<Timed> {
  const tokens = tokensOf(subject)
  await tokens.authenticate(authorization)
  return repeated('a token that is known', () => tokens.authenticate(authorization))
}

/** Tokens are verified in sequence. */
function tokenMiss(subject: Subject, world: World): Timed {
  const tokens = tokensOf(subject)
  const lines = Array.from({ length: TOKENS }, (_, i) => `Bearer ${token(world, { user: `user-${i}` })}`)
  let next = 0
  const run = async (times: number) => {
    for (let turn = 0; turn < times; turn++) await tokens.authenticate(lines[next++ % TOKENS] ?? '')
  }
  return { label: 'a token never seen, verified', run }
}
