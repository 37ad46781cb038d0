/**
 * Revocations while Redis loses messages: what each instance has cut is in its next signs of life in the store, so that the
 * answer is closed and complete.
 */

import t, { type Test } from 'tap'
import { metric } from '../support/operations.ts'
import { until } from '../support/until.ts'
import { startFleet } from './fleet.ts'
import { countsOf, startOpenUpstream } from './open-exchanges.ts'
import { closed, partOf, Revoking, sumOf } from './revoking.ts'

const { open, upstream } = await startOpenUpstream(t)
const fleet = await startFleet(t, { upstream })
const { gateways, first, redis } = fleet
const revoking = await Revoking.at(fleet)
const lines = gateways.flatMap(({ toRedis }) => toRedis ?? [])

/** A channel of messages, by its name within Redis. */
const ANNOUNCEMENTS = 'changes'

/** A revocation by the first gateway, beside a fault of messages. */
async function beside(t: Test, fault: () => Promise<unknown>, mend: () => Promise<unknown>): Promise<void> {
  const { user, token, exchanges, answer } = await closed(async () => {
    const user = revoking.user()
    const token = await revoking.token(user)
    const exchanges = await Promise.all(gateways.map((gateway) => open(gateway, token)))
    // Otherwise there is no message that the fault could meet.
    await until(async () => (await metric(first, 'seatgate_redis_up')) === 1, 'Redis')
    const isFaulty = fault()
    const answer = await revoking.revoke(first, { user })
    await isFaulty
    const decisions = await revoking.decisions(token)
    t.same(
      decisions,
      gateways.map(() => '401 token_revoked'),
    )
    await mend()
    return { user, token, exchanges, answer }
  })
  for (const [at, gateway] of gateways.entries()) {
    const { how, cut } = partOf(answer, gateway)
    t.same([how, cut], ['acknowledged', exchanges[at]?.length], `gateway ${gateway.name}`)
  }
  t.same(sumOf(answer), countsOf(exchanges.flat()), user)
  await Promise.all(exchanges.flat().map((each) => each.cut()))
  t.same(
    await revoking.decisions(token),
    gateways.map(() => '401 token_revoked'),
  )
}

const heal = () => Promise.all(lines.map((line) => line.heal()))

t.test('no message reaches one instance, or leaves it', async (t) => {
  await beside(t, async () => void fleet.at(1).toRedis?.freeze(), heal)
})

t.test('the announcement arrives, and the answers to it are lost', async (t) => {
  const fault = async () => {
    await first.toRedis?.arrival('client', ANNOUNCEMENTS, { held: false })
    first.toRedis?.freeze()
  }
  await beside(t, fault, heal)
})

t.test('the connection of the instance that answers is cut as the others report', async (t) => {
  const fault = async () => {
    await first.toRedis?.arrival('client', ANNOUNCEMENTS, { held: false })
    await first.toRedis?.cut()
  }
  await beside(t, fault, heal)
})

t.test('Redis is killed after the announcement', async (t) => {
  const fault = async () => {
    await first.toRedis?.arrival('client', ANNOUNCEMENTS, { held: false })
    await redis.kill()
  }
  await beside(t, fault, () => redis.start())
})
