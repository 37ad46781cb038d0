/**
 * PostgreSQL fails over behind one address: the primary dies, its synchronous standby is promoted, and the address leads
 * there. Gateways go on without a restart, no decision is stale and no acknowledged write is lost.
 */

import t from 'tap'
import { until } from '../support/until.ts'
import { underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'

/** The standby begins late: the primary keeps its log. */
const KEPT = ['wal_keep_size = 512MB']

t.test('to a synchronous standby', async (t) => {
  const fleet = await startFleet(t, { gateways: 2, oneAddress: true, postgres: { settings: KEPT } })
  const { gateways, first, postgres: primary, address } = fleet
  const standby = await primary.startStandby(t)
  const names: string[] = []
  const pids = gateways.map(({ pid }) => pid)
  const unavailable = gateways.map(({ name }) => name)

  const during = async (load: { written(count: number): Promise<void> }) => {
    await load.written(40)
    for (let at = 0; at < 10; at++) names.push((await fleet.makeSeat(first, `Kept ${at}`)).name)
    await primary.kill()
    await standby.promote()
    address?.lead(standby)
    await load.written(60)
  }
  await underLoad(t, 'failover of PostgreSQL behind one address', fleet, during, {
    unavailable,
    writes: true,
  })

  const kept = await standby.query('SELECT name FROM seatgate.seats', [], 'fleet')
  const found = new Set(kept.map(({ name }) => name))
  t.same(
    names.filter((name) => !found.has(name)),
    [],
    'no answered write is lost',
  )
  await fleet.makeSeat(first, 'New')
  t.same(
    gateways.map(({ pid }) => pid),
    pids,
    'no gateway was restarted',
  )
})

t.test('an address that still leads to the standby: no gateway decides by it', async (t) => {
  const fleet = await startFleet(t, { gateways: 1, oneAddress: true, postgres: { settings: KEPT } })
  const { first, postgres: primary, address } = fleet
  const standby = await primary.startStandby(t)
  const headers = { authorization: `Bearer ${await fleet.token(['Nobody'])}`, space: 's1' }
  t.equal(await fleet.decidedStatusOf(first, headers), 403)
  address?.lead(standby)
  address?.killConnections()
  await until(
    async () => (await fleet.statusOf(first, headers)) === 503 && first.log.includes('is a standby'),
    () => 'the gateway decides by a standby, or does not say that it is one',
  )
  await standby.promote()
  await until(
    async () => (await fleet.statusOf(first, headers)) === 403,
    () => `the gateway does not come back:\n${first.remarks}`,
  )
})
