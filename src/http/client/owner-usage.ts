/**
 * The number of slots (connections, or uploads) that each tenant and each of its callers holds. Computed only while
 * requests wait.
 */

import type { RequestOwner } from './upstream-request.ts'

/** A request that holds a slot and may be evicted. */
export interface SlotHolder {
  readonly owner: RequestOwner
  /** Bytes a second that its bodies have moved. */
  readonly rate: number
}

export class OwnerUsage {
  readonly #tenants = new Map<string, number>()
  readonly #callers = new Map<string, number>()

  add(owner: RequestOwner, count = 1): void {
    const key = keyOf(owner)
    this.#tenants.set(owner.tenant, this.tenant(owner.tenant) + count)
    this.#callers.set(key, (this.#callers.get(key) ?? 0) + count)
  }

  tenant(tenant: string): number {
    return this.#tenants.get(tenant) ?? 0
  }

  caller(owner: RequestOwner): number {
    return this.#callers.get(keyOf(owner)) ?? 0
  }

  /**
   * Selects the holder that is evicted for a request of `owner`: the slowest one of the caller with the most slots, of
   * the tenant with the most. Null if no other holds more than `owner` would then hold: an eviction would only swap
   * them.
   */
  findVictim<T extends SlotHolder>(owner: RequestOwner, holders: Iterable<T>): T | null {
    let victim: T | null = null
    for (const holder of holders) {
      if (!this.#hasMore(holder.owner, owner)) continue
      const difference = victim === null ? 1 : this.#compare(holder.owner, victim.owner)
      if (difference > 0 || (difference === 0 && holder.rate < (victim?.rate ?? 0))) victim = holder
    }
    return victim
  }

  #hasMore(holder: RequestOwner, owner: RequestOwner): boolean {
    if (holder.tenant !== owner.tenant) return this.tenant(holder.tenant) >= this.tenant(owner.tenant) + 2
    return this.caller(holder) >= this.caller(owner) + 2
  }

  #compare(one: RequestOwner, other: RequestOwner): number {
    return this.tenant(one.tenant) - this.tenant(other.tenant) || this.caller(one) - this.caller(other)
  }
}

/** A tenant id contains no space. */
function keyOf({ tenant, caller }: RequestOwner): string {
  return `${tenant} ${caller}`
}
