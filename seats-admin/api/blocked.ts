/** Which of some users are blocked at the moment, for lists. */

import type { BlockReader } from '../model/readings.ts'

/** One reading for all of them, unless the tenant has more blocks than are read as a whole. @returns by `sub`, in order */
export async function areBlocked(
  store: BlockReader,
  tenant: string,
  subs: readonly string[],
): Promise<boolean[]> {
  if (subs.length === 0) return []
  const { blocks } = (await store.blocks(tenant)).value
  if (blocks !== null) {
    const blocked = new Set(blocks.map(({ user }) => user))
    return subs.map((sub) => blocked.has(sub))
  }
  const found: boolean[] = []
  for (const sub of subs) found.push((await store.userBlock(tenant, sub)).value.block !== null)
  return found
}
