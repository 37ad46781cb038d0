/**
 * A neighbour's effect on an honest tenant: its latency at a fixed rate, first alone and then during each
 * kind of attack by another tenant. A fresh gateway each time.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { which } from '../cores.ts'
import type { Place } from '../place.ts'
import { SPACE } from '../names.ts'
import type { Latency } from '../load-settings.ts'
import { Ending, say } from '../harness.ts'
import { atRate } from '../load.ts'
import { runClient } from '../load-process.ts'
import { memoryOf } from '../process-tree.ts'
import { writeRequests } from '../requests.ts'
import type { AttackCount, AttackLoad } from './clients.ts'
import { type Attack, ATTACKS } from './attacks.ts'
import { type Neighbourhood, openNeighbourhood, type SeedStore, seedStore } from './gateway.ts'

/** Requests per second of the honest tenant, and their connections. */
export const HONEST_RATE = 200
const HONEST_CONNECTIONS = 16
/** Milliseconds of attack before the measurement. */
const AHEAD = 2000

export interface Neighbour {
  readonly attack: string
  readonly label: string
  readonly calm: Latency
  readonly attacked: Latency
  readonly count: AttackCount
  /** Bytes of the gateway, before the attack and at its end. */
  readonly memory: readonly [before: number, after: number]
}

/** @param seconds of each of the two loads, calm and under attack */
export async function measureNeighbours(place: Place, seconds: number): Promise<Neighbour[]> {
  const seed = await seedStore(join(place.folder, 'neighbour.db'))
  const neighbours: Neighbour[] = []
  for (const attack of ATTACKS) {
    if (attack.proxied === true && which('haproxy') === null) continue
    say(`neighbour, ${attack.name}`)
    neighbours.push(await measureNeighbour(attack, place, seed, seconds))
  }
  return neighbours
}

async function measureNeighbour(
  attack: Attack,
  place: Place,
  seed: SeedStore,
  seconds: number,
): Promise<Neighbour> {
  await using ending = new Ending()
  const folder = mkdtempSync(join(place.folder, 'neighbour-'))
  ending.teardown(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  const upstream = place.upstreams.plain.origin
  const proxied = attack.proxied === true
  const opened = await openNeighbourhood(ending, join(folder, 'gateway'), seed, upstream, proxied)
  const ask = honestRequests(attack, opened, folder, seconds)
  await ask()
  const before = memoryOf([opened.pid])
  const calm = await ask()
  const { port, keys, token, pid } = opened
  const load = { attack: attack.name, port, keys, token, seconds: seconds + (2 * AHEAD) / 1000 }
  const under = runClient<AttackCount>('neighbour/attacker.ts', load satisfies AttackLoad)
  // Awaited last: its failure must not end this process before the gateway has stopped.
  under.catch(() => {})
  await sleep(AHEAD)
  const attacked = await ask()
  const memory = [before, memoryOf([pid])] as const
  return { attack: attack.name, label: attack.label, calm, attacked, count: await under, memory }
}

function honestRequests(
  { honest, path = '/v1/trainings/7' }: Attack,
  { port, honest: token }: Neighbourhood,
  folder: string,
  seconds: number,
): () => Promise<Latency> {
  const requests = writeRequests(join(folder, 'requests'), 'honest', [
    {
      method: honest,
      path,
      headers: [`Space: ${SPACE}`, `Authorization: Bearer ${token}`],
      body: honest === 'POST' ? 2048 : 0,
    },
  ])
  const load = {
    port,
    requests,
    from: 0,
    connections: HONEST_CONNECTIONS,
    workers: 1,
    rate: HONEST_RATE,
    seconds,
  }
  return () => atRate(load)
}
