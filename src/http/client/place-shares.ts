/** How many places each tenant, and each of its callers, holds. Made when somebody waits, by `client.ts` and `eviction.ts`. */

import type { Party } from './hop.ts'

/** Somebody who holds a place, and may lose it. */
export interface Holder {
  readonly party: Party
  /** Bytes a second that it moves. */
  readonly rate: number
}

export class Shares {
  readonly #tenants = new Map<string, number>()
  readonly #callers = new Map<string, number>()

  add(party: Party, count = 1): void {
    const key = keyOf(party)
    this.#tenants.set(party.tenant, this.tenant(party.tenant) + count)
    this.#callers.set(key, (this.#callers.get(key) ?? 0) + count)
  }

  tenant(tenant: string): number {
    return this.#tenants.get(tenant) ?? 0
  }

  caller(party: Party): number {
    return this.#callers.get(keyOf(party)) ?? 0
  }

  /**
   * Who gives way to the party: the slowest holder of the greediest caller of the greediest tenant. Null where nobody has
   * more than the party would have then: a place that goes to and fro serves neither.
   */
  victim<T extends Holder>(party: Party, holders: Iterable<T>): T | null {
    let victim: T | null = null
    for (const holder of holders) {
      if (!this.#hasMore(holder.party, party)) continue
      const difference = victim === null ? 1 : this.#compare(holder.party, victim.party)
      if (difference > 0 || (difference === 0 && holder.rate < (victim?.rate ?? 0))) victim = holder
    }
    return victim
  }

  #hasMore(holder: Party, party: Party): boolean {
    if (holder.tenant !== party.tenant) return this.tenant(holder.tenant) >= this.tenant(party.tenant) + 2
    return this.caller(holder) >= this.caller(party) + 2
  }

  #compare(one: Party, other: Party): number {
    return this.tenant(one.tenant) - this.tenant(other.tenant) || this.caller(one) - this.caller(other)
  }
}

/** No tenant's id has a space in it. */
function keyOf({ tenant, caller }: Party): string {
  return `${tenant} ${caller}`
}
