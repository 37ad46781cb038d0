/** Whether someone could administer a tenant. */

import { isInForce } from '../model/block.ts'
import { administrationQueries } from './administration-queries.ts'
import { blockReads, blocksReading } from './block-queries.ts'
import type { Database } from './database.ts'
import { asOf } from './decision-reader.ts'
import type { AdminStore } from './store.ts'

export function administrationReader({ lists, dialect }: Database): Pick<AdminStore, 'isAdministered'> {
  const { administratingKey, administratingUser } = administrationQueries(dialect)
  const { blocks } = blockReads(dialect)
  return {
    async isAdministered(tenant, { space, now, without = [], also = [], revoked = [], blocked = [] }) {
      const ids = { without: JSON.stringify(without), also: JSON.stringify(also) }
      const seats = { tenant, listed: JSON.stringify(space), ...ids }
      const ofKeys = {
        ...seats,
        now,
        revoked: JSON.stringify(revoked),
        owners: JSON.stringify(blocked.map((user) => JSON.stringify(user))),
      }
      if ((await lists.get(administratingKey, ofKeys)) !== undefined) return true
      const reading = asOf(await lists.get(blocks, { tenant }), blocksReading).value
      const inForce = (reading.blocks ?? []).filter((block) => isInForce(block, reading.now))
      const users = [...inForce.map(({ user }) => user), ...blocked].map(dialect.memberOf)
      const ofUsers = { ...seats, blocked: JSON.stringify(users) }
      return (await lists.get(administratingUser, ofUsers)) !== undefined
    },
  }
}
