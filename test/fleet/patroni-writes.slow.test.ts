/** PostgreSQL under Patroni ends by `immediate` at each step of a write. What was acknowledged is there afterwards, and only that. */

import t from 'tap'
import { whyNoPatroni } from '../support/servers/patroni.ts'
import { until } from '../support/until.ts'
import { type Drill, drills } from './drill.ts'
import { update } from './ledger.ts'

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
    const { toStore, toRedis } = fleet.first
    toRedis?.freeze()
    const answered = toStore?.arrival('server', COMMIT, { held: false })
    const acknowledged = update(fleet, fleet.first, seat)
    await answered
    await primary.endImmediately()
    t.equal(await acknowledged, true, 'after the time of a lease')
    await toRedis?.heal()
  },
}

/** Ends the primary while this is held on its way, which then breaks. Whether the write was acknowledged. */
async function endedAt({ fleet, primary, seat }: Drill, from: 'client' | 'server', text: string) {
  const { toStore } = fleet.first
  const arrived = toStore?.arrival(from, text, { held: true })
  const acknowledged = update(fleet, fleet.first, seat)
  await arrived
  await primary.endImmediately()
  toStore?.killConnections()
  await toStore?.heal()
  return acknowledged
}

t.test('PostgreSQL under Patroni ends by immediate', { skip: await whyNoPatroni() }, (t) => drills(t, steps))
