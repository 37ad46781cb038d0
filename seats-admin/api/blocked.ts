/** The users of a list that are blocked at the moment. */

import { isInForce } from '../model/block.ts'
import type { RestrictionReader } from '../model/readings.ts'
import type { UserRestriction } from '../model/revocation.ts'

/**
 * One reading for all of them, unless the tenant has so many restrictions that each user needs a reading.
 *
 * @returns by `sub`, in order
 */
export async function areBlocked(
  store: RestrictionReader,
  tenant: string,
  subs: readonly string[],
): Promise<boolean[]> {
  if (subs.length === 0) return []
  const { now, users } = (await store.restrictions(tenant)).value
  if (users !== null) {
    const blocked = new Set(users.filter((each) => isBlocked(each, now)).map(({ user }) => user))
    return subs.map((sub) => blocked.has(sub))
  }
  const results: boolean[] = []
  for (const sub of subs) {
    const reading = (await store.userRestriction(tenant, sub)).value
    results.push(isBlocked(reading.restriction, reading.now))
  }
  return results
}

function isBlocked(restriction: UserRestriction | null, now: number): boolean {
  const block = restriction?.block ?? null
  return block !== null && isInForce(block, now)
}
