/** PostgreSQL under Patroni ends by `immediate` at each step of a write. What was acknowledged is there afterwards, and only that. */

import t from 'tap'
import { whyNoPatroni } from '../support/servers/patroni.ts'
import { THOROUGH } from '../support/thorough.ts'
import { until } from '../support/until.ts'
import { type Drill, drills } from './drill.ts'
import type { Fleet } from './fleet.ts'
import { update } from './ledger.ts'
import type { Rewritten } from './rewritten.ts'

/** With this a client ends its part of a transaction, and the server its answer, in PostgreSQL's protocol. */
const COMMIT = 'COMMIT\0'

const steps = {
  async 'before the first statement'(drill: Drill) {
    const acknowledged = await endedAt(drill, 'client', 'BEGIN ISOLATION')
    drill.t.comment(`acknowledged, on a new connection: ${acknowledged}`)
  },

  async 'during the transaction'(drill: Drill) {
    drill.t.equal(await endedAt(drill, 'client', COMMIT), false)
    // PostgreSQL has not got its COMMIT.
    drill.seat.sent--
  },

  async 'while COMMIT waits for the standby'({ t, fleet, cluster, primary, seat }: Drill) {
    const standbys = cluster.nodes.filter((node) => node !== primary)
    await Promise.all(standbys.map((node) => node.freeze()))
    const acknowledged = update(fleet, fleet.first, seat)
    await until(() => primary.waits(), 'a commit that waits for the standby')
    await primary.endImmediately()
    for (const node of standbys) node.thaw()
    t.equal(await acknowledged, false)
  },

  async 'between COMMIT and its answer'(drill: Drill) {
    drill.t.equal(await endedAt(drill, 'server', COMMIT), false)
    // The primary has answered, so the standby has it.
    drill.seat.answered = drill.seat.sent
  },

  async 'between the answer and the acknowledgements'({ t, fleet, primary, seat }: Drill) {
    const { toStore, toRedis } = throughProxies(fleet)
    toRedis.freeze()
    const { answer } = await writesUntil(toStore.arrival('server', COMMIT, { held: false }), fleet, seat)
    await primary.endImmediately()
    t.comment(`acknowledged, after the time of a lease: ${await answer}`)
    seat.answered = seat.sent
    await toRedis.heal()
  },
}

/** Ends the primary while this is held on its way, which then breaks. Whether the write was acknowledged. */
async function endedAt(
  { fleet, primary, seat }: Drill,
  from: 'client' | 'server',
  text: string,
): Promise<boolean> {
  const { toStore } = throughProxies(fleet)
  const { answer } = await writesUntil(toStore.arrival(from, text, { held: true }), fleet, seat)
  await primary.endImmediately()
  toStore.killConnections()
  await toStore.heal()
  return answer
}

/** Writes through the first gateway until this arrives: a write may be refused before, while it waits for its turn. */
async function writesUntil(arrival: Promise<void>, fleet: Fleet, seat: Rewritten) {
  let hasArrived = false
  const arrived = arrival.then(() => (hasArrived = true))
  for (;;) {
    const answer = update(fleet, fleet.first, seat)
    await Promise.race([arrived, answer])
    if (hasArrived) return { answer }
  }
}

function throughProxies({ first: { toStore, toRedis } }: Fleet) {
  if (toStore === null || toRedis === null) throw new Error('the fleet has no proxies')
  return { toStore, toRedis }
}

for (const afterCrash of THOROUGH ? (['replace', 'restart'] as const) : (['replace'] as const))
  t.test(`PostgreSQL under Patroni ends by immediate: ${afterCrash}`, { skip: await whyNoPatroni() }, (t) =>
    drills(t, steps, afterCrash),
  )
