/**
 * Large numbers in one store with one gateway: a revocation of a tenant with many sessions, and a tenant many of whose
 * users have been revoked.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import { metric } from '../../test/support/operations.ts'
import { succeed, startService } from '../../test/operations/service.ts'
import { Ending, say } from '../harness.ts'
import { fillCutoffs, fillSessions } from './fill.ts'
import { HASH_PERM, OneGateway, openPostgres, openSqlite, type OneStore } from './one-store.ts'

const STORES = [openPostgres, openSqlite]

export interface TenantRevoked {
  readonly store: string
  readonly sessions: number
  /** Milliseconds until the answer. */
  readonly answer: number
  /** Statements of the gateway; null: not counted. */
  readonly statements: number | null
  /** Resident bytes of the gateway, before and at most. */
  readonly memory: readonly [before: number, most: number]
  /** The longest delay of the event loop, in ms. */
  readonly delay: number
  /** Milliseconds of requests of another caller while the revocation was in flight. */
  readonly requests: readonly number[]
}

export async function measureTenants(sessions: number): Promise<TenantRevoked[]> {
  const measured: TenantRevoked[] = []
  for (const open of STORES) {
    await using ending = new Ending()
    const store = await open(ending)
    say(`${store.kind}: ${sessions} sessions`)
    measured.push(await revokeTenant(ending, store, sessions))
  }
  return measured
}

async function revokeTenant(ending: Ending, store: OneStore, count: number): Promise<TenantRevoked> {
  await store.fill((filler) => fillSessions(filler, { prefix: 'session', count, hashPerm: HASH_PERM }))
  const gateway = await startGateway(ending, store)
  for (let at = 0; at < 20; at++) await gateway.revoke({ user: `user ${at}` })
  for (let at = 0; at < 200; at++) await gateway.ask(gateway.caller)
  await delayOf(gateway)
  const [before, statements] = [gateway.memory, store.statements()]
  let most = before
  const requests: number[] = []
  let ended = false
  const repeat = async (run: () => Promise<void>) => {
    for (; !ended; await sleep(5)) await run()
  }
  const beside = [
    repeat(async () => void requests.push(await gateway.ask(gateway.caller))),
    repeat(async () => void (most = Math.max(most, gateway.memory))),
  ]
  for (const each of beside) each.catch(() => {})
  const answer = await gateway.revoke({ tenant: true }).finally(() => (ended = true))
  await Promise.all(beside)
  const after = store.statements()
  return {
    ...{ store: store.kind, sessions: count, answer, memory: [before, most], requests },
    statements: after === null || statements === null ? null : after - statements,
    delay: await delayOf(gateway),
  }
}

/** Milliseconds since the last reading. */
async function delayOf({ process }: OneGateway): Promise<number> {
  return 1000 * (await metric(process, 'nodejs_eventloop_lag_max_seconds'))
}

export interface CutoffsKept {
  readonly store: string
  readonly cutoffs: number
  /** Milliseconds until the gateway was ready. */
  readonly start: number
  /** Resident bytes after the requests. */
  readonly memory: number
  /** Milliseconds of the first and of the second request of each user. */
  readonly first: readonly number[]
  readonly second: readonly number[]
  /** Milliseconds of revocations of other users until their answers. */
  readonly revocations: readonly number[]
}

const USERS = 500
const REVOCATIONS = 50

export async function measureCutoffs(count: number): Promise<CutoffsKept[]> {
  const measured: CutoffsKept[] = []
  for (const open of STORES)
    for (const cutoffs of [0, count]) {
      await using ending = new Ending()
      const store = await open(ending)
      say(`${store.kind}: ${cutoffs} cutoffs`)
      if (cutoffs > 0) await store.fill((filler) => fillCutoffs(filler, cutoffs))
      measured.push({ store: store.kind, cutoffs, ...(await useCutoffs(ending, store)) })
    }
  return measured
}

async function useCutoffs(ending: Ending, store: OneStore): Promise<Omit<CutoffsKept, 'store' | 'cutoffs'>> {
  // The first start after a change of code compiles it.
  await (await startGateway(ending, store)).process.end()
  const gateway = await startGateway(ending, store)
  for (let at = 0; at < 300; at++) await gateway.ask(gateway.caller)
  const tokens = await gateway.tokens(Array.from({ length: USERS }, (_, at) => `user ${at}`))
  const askAll = async () => {
    const times: number[] = []
    for (const token of tokens) times.push(await gateway.ask(token))
    return times
  }
  const [first, second] = [await askAll(), await askAll()]
  const { memory, startedIn } = gateway
  // The first write of an administrator after a start takes up to a second, in which code is compiled.
  for (let at = 0; at < 10; at++) await gateway.revoke({ user: `first ${at}` })
  const revocations: number[] = []
  for (let at = 0; at < REVOCATIONS; at++) revocations.push(await gateway.revoke({ user: `other ${at}` }))
  return { start: startedIn, memory, first, second, revocations }
}

async function startGateway(ending: Ending, store: OneStore): Promise<OneGateway> {
  const { url } = await startService(ending.t, 'bench', succeed)
  return OneGateway.start(ending, store, url)
}
