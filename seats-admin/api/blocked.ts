/** Which of some users are blocked at the moment, for lists. */

import { isInForce } from '../model/block.ts'
import type { BlockReader } from '../model/readings.ts'

/**
 * One reading for all of them, unless the tenant has more blocks than are read as a whole.
 *
 * @returns by `sub`, in order
 */
export async function areBlocked(
  store: BlockReader,
  tenant: string,
  subs: readonly string[],
): Promise<boolean[]> {
  if (subs.length === 0) return []
  const { now, blocks } = (await store.blocks(tenant)).value
  if (blocks !== null) {
    const inForce = blocks.filter((each) => isInForce(each, now))
    const blocked = new Set(inForce.map(({ user }) => user))
    return subs.map((sub) => blocked.has(sub))
  }
  const results: boolean[] = []
  for (const sub of subs) {
    const reading = (await store.userBlock(tenant, sub)).value
    results.push(reading.block !== null && isInForce(reading.block, reading.now))
  }
  return results
}
