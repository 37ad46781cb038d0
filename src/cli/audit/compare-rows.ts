/** Compares the Seats, API keys and blocks of a store with what the audit says of them. */

import type { AuditStates, Store } from '../../../seats-admin/index.ts'
import type { Block } from '../../../seats-admin/model/block.ts'
import { keysOf, seatsOf } from '../seat-source.ts'

/** Entries and blocks of one reading. */
const READ = 100

/**
 * A gateway may write meanwhile: what has a newer entry than the chain had before is not compared.
 *
 * @param last the id of the newest entry that was read
 */
export async function compareRows(
  store: Store,
  tenant: string,
  states: AuditStates,
  last: string,
): Promise<void> {
  states.beginRows()
  for await (const seat of seatsOf(store, tenant)) states.seat(seat)
  for await (const key of keysOf(store, tenant)) states.apiKey(key)
  for await (const block of blocksOf(store, tenant)) states.block(block)
  for (let after = last; ;) {
    const { rows, start } = await store.audit.chain(tenant, after, READ)
    if (rows.length === 0) break
    states.read(rows, start)
    after = String(rows.at(-1)?.id)
  }
  states.end(Date.now())
}

async function* blocksOf(store: Store, tenant: string): AsyncGenerator<Block> {
  for (let after: string | null = null; ;) {
    const { data, hasMore }: { data: Block[]; hasMore: boolean } = await store.listBlocks(tenant, {
      limit: READ,
      after,
    })
    yield* data
    if (!hasMore) return
    after = data.at(-1)?.id ?? null
  }
}
