/**
 * What ends of sessions cost an instance with 5,000 open WebSockets: another instance ends as many as it can, each by a
 * request of its own, or 1,000 a second by revocations. Few of them have a WebSocket.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { mintToken } from '../../src/decision/authn/gateway-token.ts'
import { type Fleet, SPACE, startFleet, TENANT } from '../../test/fleet/fleet.ts'
import { metricsOf } from '../../test/support/operations.ts'
import { Ending, say } from '../harness.ts'
import { cpuOf } from '../process-tree.ts'
import { fillSessions, type Filler, postgresFiller, sessionId } from './fill.ts'
import { OPEN_ROUTES, type OpenExchange, openExchange, startOpenUpstream } from './open-exchange.ts'

/** Of these sessions that end, one has a WebSocket. */
const CUT_EVERY = 20
/** Callers that end sessions by a request each. */
const CALLERS = 8
/** WebSockets that are opened at once. */
const AT_ONCE = 50

export interface FloodSetup {
  /** Open WebSockets. */
  readonly open: number
  /** Ends of sessions per second. */
  readonly rate: number
  readonly seconds: number
}

export interface Flooded {
  readonly flood: string
  /** Ends of sessions per second that were answered. */
  readonly rate: number
  /** The share of a core that the instance with the WebSockets used. */
  readonly cpu: number
  /** The delay of its event loop in ms: the 99th percentile, and the longest. */
  readonly delay: { readonly p99: number; readonly most: number }
  /** Milliseconds from each request that ended a session to the end of its WebSocket. */
  readonly cuts: readonly number[]
}

interface Parts {
  readonly fleet: Fleet
  readonly filler: Filler
  readonly hashPerm: readonly string[]
  /** WebSockets by the session. */
  readonly open: Map<string, OpenExchange>
  send(method: string, path: string, body?: unknown): Promise<void>
}

export async function measureSessionFlood(setup: FloodSetup): Promise<Flooded[]> {
  await using ending = new Ending()
  const parts = await prepare(ending, setup)
  const { rate, seconds } = setup
  const measured = [await during(parts, 'none', seconds, async () => ({ count: 0, cuts: [] }))]
  for (const [flood, end] of [
    ['each by a request', oneByOne],
    [`${rate} by a revocation`, byRevocations],
  ] as const) {
    say(`flood, ${flood}`)
    measured.push(await during(parts, flood, seconds, await end(parts, setup)))
  }
  return measured
}

async function prepare(ending: Ending, { open: count }: FloodSetup): Promise<Parts> {
  const target = await startOpenUpstream(ending.t)
  const upstream = { target, routes: ['GET /v1/trainings: trainings:list', ...OPEN_ROUTES] }
  const fleet = await startFleet(ending.t, { gateways: 2, proxies: [], upstream })
  const hashPerm = [`${SPACE}:${(await fleet.makeSeat(fleet.first, 'Opener')).name}`]
  const filler = postgresFiller((text, values) => fleet.query(text, values))
  const pool = new Pool(`http://127.0.0.1:${fleet.first.port}`, { connections: CALLERS })
  ending.teardown(() => pool.destroy())
  const headers = { 'x-api-key': fleet.key, space: 'admin', 'content-type': 'application/json' }
  const open = new Map<string, OpenExchange>()
  const parts = {
    ...{ fleet, filler, hashPerm, open },
    async send(method: string, path: string, body?: unknown) {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) }
      const answer = await pool.request({ method, path, headers, ...sent })
      const text = await answer.body.text()
      if (answer.statusCode >= 300) throw new Error(`${path}: ${answer.statusCode} ${text}`)
    },
  }
  await fillSessions(filler, { prefix: 'open', count, hashPerm })
  for (let from = 1; from <= count; from += AT_ONCE)
    await Promise.all(
      Array.from({ length: AT_ONCE }, (_, at) => openSession(parts, sessionId('open', from + at))),
    )
  say(`${count} WebSockets are open`)
  return parts
}

async function openSession({ fleet, hashPerm, open }: Parts, sid: string): Promise<void> {
  const tenant = fleet.tenants.get(TENANT)
  if (tenant === undefined) throw new Error('no tenant')
  const token = await mintToken(tenant, { sub: sid, sid, hashPerm }, Date.now())
  const headers = { authorization: `Bearer ${token}`, space: SPACE }
  open.set(sid, await openExchange(fleet.at(1).port, 'websocket', headers))
}

type Ended = { readonly count: number; readonly cuts: readonly number[] }

/** The figures of the instance with the WebSockets while sessions end. */
async function during(
  { fleet }: Parts,
  flood: string,
  seconds: number,
  end: () => Promise<Ended>,
): Promise<Flooded> {
  const holder = fleet.at(1)
  // A reading of the delay resets it.
  await metricsOf(holder)
  const [begun, before] = [performance.now(), cpuOf([holder.pid])]
  const [{ count, cuts }] = await Promise.all([end(), sleep(1000 * seconds)])
  const took = (performance.now() - begun) / 1000
  const cpu = (cpuOf([holder.pid]) - before) / 1e6 / took
  const metrics = await metricsOf(holder)
  const delayOf = (name: string) =>
    1000 * Number(new RegExp(`^nodejs_eventloop_lag_${name}_seconds (.*)$`, 'm').exec(metrics)?.[1])
  return { flood, rate: count / took, cpu, delay: { p99: delayOf('p99'), most: delayOf('max') }, cuts }
}

/** As many as a few callers can end, each after the other. */
async function oneByOne(parts: Parts, { rate, seconds }: FloodSetup): Promise<() => Promise<Ended>> {
  const { filler, hashPerm, open, send } = parts
  await fillSessions(filler, { prefix: 'closed', count: rate * seconds, hashPerm })
  const sids = [...open.keys()]
  const cuts: Promise<number>[] = []
  let count = 0
  const endNext = async () => {
    const at = count++
    const id = (at % CUT_EVERY === 0 ? sids.pop() : null) ?? sessionId('closed', at + 1)
    const from = Date.now()
    await send('DELETE', `/v1/sessions/${id}`)
    const exchange = open.get(id)
    if (exchange !== undefined) cuts.push(exchange.end.then((end) => end - from))
  }
  return async () => {
    const until = performance.now() + 1000 * seconds
    const caller = async () => {
      while (performance.now() < until && count < rate * seconds) await endNext()
    }
    await Promise.all(Array.from({ length: CALLERS }, caller))
    return { count, cuts: await Promise.all(cuts) }
  }
}

/** The user of each revocation has one WebSocket more than these sessions. */
async function byRevocations(parts: Parts, { rate, seconds }: FloodSetup): Promise<() => Promise<Ended>> {
  const { filler, hashPerm, open, send } = parts
  const users = [...open.keys()].slice(0, seconds)
  for (const [at, user] of users.entries())
    await fillSessions(filler, { prefix: `user-${at}`, count: rate - 1, user, hashPerm })
  return async () => {
    const cuts: number[] = []
    for (const user of users) {
      const next = sleep(1000)
      const from = Date.now()
      await send('POST', '/v1/revocations', { subject: { user } })
      const end = await open.get(user)?.end
      if (end !== undefined) cuts.push(end - from)
      await next
    }
    return { count: rate * seconds, cuts }
  }
}
