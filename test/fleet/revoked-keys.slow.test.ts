/**
 * The revocation of a user with more API keys than a reading of the feed contains, in a fleet of three with Redis: what is
 * open with these keys is cut and counted, and no instance accepts one of them, from its memory or from Redis.
 */

import t from 'tap'
import { subDigest } from '../../seats-admin/store/block-queries.ts'
import { startFleet, TENANT } from './fleet.ts'
import { countsOf, startOpenUpstream } from './open-exchanges.ts'
import { closed, partOf, Revoking, sumOf } from './revoking.ts'

/** A reading of the feed has at most 5,000 changes. */
const KEYS = 5500

t.test('a user who owns 5,500 API keys is revoked: closed, and each key is refused', async (t) => {
  const { open, upstream } = await startOpenUpstream(t)
  const fleet = await startFleet(t, { redis: 'own', proxies: [], upstream })
  const { gateways, first } = fleet
  const revoking = await Revoking.at(fleet)
  const everywhere = (decision: string) => gateways.map(() => decision)

  const bob = await revoking.key('bob')
  const others = await Promise.all(gateways.map((gateway) => open(gateway, bob)))
  const { key, unused, answer, exchanges } = await closed(async () => {
    const user = revoking.user()
    const [key, unused] = [await revoking.key(user), await revoking.key(user)]
    await ownKeys(user)
    const exchanges = await Promise.all(gateways.map((gateway) => open(gateway, key)))
    t.same(await revoking.decisions(unused, [first]), ['allow'], 'in Redis from now on')
    return { key, unused, exchanges, answer: await revoking.revoke(fleet.at(1), { user }) }
  })
  t.equal(answer.ended.api_keys, KEYS + 2)
  t.same(sumOf(answer), countsOf(exchanges.flat()))
  for (const [at, gateway] of gateways.entries())
    t.match(partOf(answer, gateway), { how: 'acknowledged', cut: exchanges[at]?.length })
  for (const revoked of [key, unused])
    t.same(await revoking.decisions(revoked), everywhere('401 api_key_revoked'))
  for (const each of exchanges.flat()) await each.cut()
  for (const each of others.flat()) await each.passes()
  t.same(await revoking.decisions(bob), everywhere('allow'), 'a key of another user')

  /** Keys that no request uses. */
  function ownKeys(user: string) {
    return fleet.query(
      `INSERT INTO seatgate.api_keys (tenant, id, name, hash, owner, owner_digest, created_by, created_at)
       SELECT $1, $2 || '.' || number, 'other', '\\x00', $3, $4, 'test', 0
       FROM generate_series(1, $5::int) AS numbers (number)`,
      [TENANT, user, JSON.stringify(user), subDigest(user), KEYS],
    )
  }
})
