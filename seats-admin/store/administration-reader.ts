/** Whether someone could administer a tenant. */

import { administrationQueries } from './administration-queries.ts'
import { blockQueries, storedBlock } from './block-queries.ts'
import type { Database } from './database.ts'
import { isStorable } from './storable-text.ts'
import type { AdminStore } from './store.ts'

/** The number of blocks up to which they count. */
const MAX_BLOCKS = 500

export function administrationReader({ lists, dialect }: Database): Pick<AdminStore, 'isAdministered'> {
  const { administratingKey, administratingUser } = administrationQueries(dialect)
  const { listBlocks } = blockQueries(dialect)
  return {
    async isAdministered(tenant, administration) {
      const {
        space,
        now,
        without = [],
        also = [],
        revoked = [],
        blocked = [],
        seatsFrom = null,
      } = administration
      const ids = { without: JSON.stringify(without), also: JSON.stringify(also) }
      const seats = { tenant, listed: JSON.stringify(space), ...ids }
      const ofKeys = {
        ...seats,
        now,
        revoked: JSON.stringify(revoked),
        owners: JSON.stringify(blocked.map((user) => JSON.stringify(user))),
      }
      if ((await lists.get(administratingKey, ofKeys)) !== undefined) return true
      const blocks = await lists.all(listBlocks, { tenant, after: '', rows: MAX_BLOCKS + 1 })
      const known = blocks.length > MAX_BLOCKS ? [] : blocks.map((row) => storedBlock(row).user)
      const users = [...known, ...blocked]
      const named =
        seatsFrom === null
          ? { blocked: JSON.stringify(users.map(dialect.memberOf)) }
          : { blocked_subs: JSON.stringify(users.filter(isStorable)) }
      return (await lists.get(administratingUser(seatsFrom), { ...seats, ...named })) !== undefined
    },
  }
}
