/**
 * Drills on a fleet whose PostgreSQL a cluster manager fails over, behind HAProxy as the manual configures it: a load, its checker
 * and a ledger around each fault.
 */

import type { Test } from 'tap'
import { runnable } from '../docs/pages.ts'
import { PatroniCluster } from '../support/servers/patroni.ts'
import type { AfterCrash, PatroniNode } from '../support/servers/patroni-node.ts'
import { type Load, underLoad } from './checker.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { Ledger } from './ledger.ts'
import { makeRewritten, type Rewritten, whole } from './rewritten.ts'

export interface Drill {
  readonly t: Test
  readonly fleet: Fleet
  readonly cluster: PatroniCluster
  readonly load: Load
  /** Before the fault. */
  readonly primary: PatroniNode
  /** To be written by the first gateway, which nothing else writes through. */
  readonly seat: Rewritten
}

type Fault = (drill: Drill) => Promise<void>

/** Each fault comes on a cluster that is whole, under load, and ends with one. No gateway may need a restart. */
export async function drills(
  t: Test,
  faults: Readonly<Record<string, Fault>>,
  afterCrash: AfterCrash = 'replace',
): Promise<void> {
  const [haproxy] = runnable('docs/fleet.md', 'haproxy')
  const cluster = await PatroniCluster.start(t, haproxy?.text ?? '', afterCrash)
  const fleet = await startFleet(t, { database: cluster, proxies: ['store', 'redis'] })
  const pids = () => fleet.gateways.map(({ pid }) => pid)
  const before = pids()
  for (const [title, fault] of Object.entries(faults))
    await t.test(title, (t) => drill(t, title, { fleet, cluster }, fault))
  t.same(pids(), before, 'no gateway was restarted')
}

type Parts = Pick<Drill, 'fleet' | 'cluster'>

async function drill(t: Test, title: string, { fleet, cluster }: Parts, fault: Fault): Promise<void> {
  const others = fleet.gateways.slice(1)
  const seat = await makeRewritten(fleet, `Single at ${title}`, fleet.first)
  const ledger = await Ledger.start(fleet, `Ledger at ${title}`, others)
  const during = async (load: Load) => {
    await load.written(20)
    const primary = await cluster.primary()
    const begun = performance.now()
    const passed = () => `${((performance.now() - begun) / 1000).toFixed(1)} s`
    await fault({ t, fleet, cluster, load, primary, seat })
    await load.written(20)
    t.comment(`writes again after ${passed()}`)
    await cluster.settled()
    t.comment(`whole again after ${passed()}; primary: ${primary.name}, ${(await cluster.primary()).name}`)
    await load.written(20)
  }
  const run = underLoad(t, title, fleet, during, {
    through: (gateway) => gateway !== fleet.first,
    unavailable: fleet.gateways.map(({ name }) => name),
    writes: true,
  })
  await run.finally(() => ledger.end())
  await ledger.check(t)
  await whole(t, fleet, fleet.first, [seat])
}
