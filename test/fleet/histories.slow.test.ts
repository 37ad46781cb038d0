/**
 * Five administrators change the same few Seats and keys under faults, through three gateways, one of which has two workers: one order
 * of all that they and the callers did explains every answer.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { LEASE } from '../../src/coherence/lease.ts'
import { startFleet } from './fleet.ts'
import { type Administrators, manyAdministrators, textsOf } from './histories.ts'

const LEAST_OPERATIONS = 200

const fleet = await startFleet(t, { proxies: ['store', 'redis'], workers: (name) => (name === 'c' ? 2 : 1) })

function drill(title: string, during: (administrators: Administrators) => Promise<unknown>): void {
  t.test(title, async (t) => {
    const report = await manyAdministrators(t, fleet, async (administrators) => {
      await administrators.written(10)
      await during(administrators)
      await administrators.written(10)
    })
    const { operations = 0, unchecked } = report.histories ?? {}
    t.same(textsOf(report), [])
    t.equal(unchecked, 0)
    t.ok(operations > LEAST_OPERATIONS, `operations: ${operations}`)
  })
}

drill('nothing fails', ({ written }) => written(60))

drill('Redis is frozen, killed and started empty', async ({ written }) => {
  await fleet.redis.freeze()
  await written(15)
  fleet.redis.thaw()
  await written(15)
  await fleet.redis.kill()
  await written(15)
  await fleet.redis.restart({ empty: true })
})

drill('messages of one gateway are late, and another one hears none', async ({ written }) => {
  fleet.at(0).toRedis?.delay(150)
  await fleet.at(1).toRedis?.cut()
  await written(60)
  await Promise.all(fleet.gateways.map(({ toRedis }) => toRedis?.heal()))
})

drill('a gateway is frozen for longer than a lease, and for less', async ({ written }) => {
  for (const ms of [2 * LEASE, LEASE / 2, LEASE / 4]) {
    await fleet.at(1).freeze()
    await sleep(ms)
    fleet.at(1).thaw()
    await written(10)
  }
})

drill('a gateway is killed and started again', async ({ written }) => {
  await fleet.at(2).kill()
  await written(30)
  await fleet.at(2).start()
})

drill('a gateway loses its connections to the store, and those of all are broken', async ({ written }) => {
  fleet.at(0).toStore?.freeze()
  await written(10)
  await fleet.at(0).toStore?.heal()
  await written(10)
  await fleet.at(1).toStore?.cut()
  await written(10)
  await fleet.at(1).toStore?.heal()
  for (let round = 0; round < 3; round++) {
    for (const { toStore } of fleet.gateways) toStore?.killConnections()
    await written(10)
  }
})
