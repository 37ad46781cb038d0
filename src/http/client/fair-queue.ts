/**
 * The slots of a target (connections or streams, and uploads) are shared by tenant, and among the callers of a tenant. A
 * caller with many requests delays itself, not others. {@link OwnerUsage} counts the slots that each one holds, and
 * selects the request that is evicted. {@link FairQueue} holds the requests that wait for a slot.
 */

import type { UpstreamRequest, RequestOwner, ResponseReceiver } from './upstream-request.ts'

/** A request that holds a slot and may be evicted. */
export interface SlotHolder {
  readonly owner: RequestOwner
  /** Bytes a second that its bodies have moved. */
  readonly rate: number
}

/** The number of slots that each tenant and each of its callers holds. Computed only while requests wait. */
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

export interface QueuedRequest {
  readonly request: UpstreamRequest
  readonly receiver: ResponseReceiver
  /** The request holds an upload slot. */
  readonly uploads: boolean
  /** Monotonic ms. */
  readonly since: number
}

/** The queues of one tenant by caller, in the order of their turns. */
type CallerQueues = Map<string, QueuedRequest[]>

/**
 * Requests that wait. The queue takes tenants in turn, callers of a tenant in turn, and the requests of a caller in order
 * of arrival.
 */
export class FairQueue {
  size = 0
  /** In the order of their turns. */
  readonly #tenants = new Map<string, CallerQueues>()

  add(item: QueuedRequest): void {
    const { tenant, caller } = item.receiver.owner
    const callers = getOrInsert(this.#tenants, tenant, newCallerQueues)
    getOrInsert(callers, caller, newList).push(item)
    this.size++
  }

  /** Takes the next request. */
  take(): QueuedRequest | undefined {
    for (const [tenant, callers] of this.#tenants)
      for (const caller of callers.keys()) return this.#take(tenant, caller, true)
    return undefined
  }

  /** Takes the next request of the tenant with the fewest slots, and there of the caller with the fewest. */
  takeFewest(usage: OwnerUsage): QueuedRequest | undefined {
    let [best, least] = [null as RequestOwner | null, [Infinity, Infinity] as const]
    for (const [tenant, callers] of this.#tenants) {
      const held = usage.tenant(tenant)
      if (held > least[0]) continue
      for (const caller of callers.keys()) {
        const owner = { tenant, caller }
        const own = usage.caller(owner)
        if (held === least[0] && own >= least[1]) continue
        best = owner
        least = [held, own]
      }
    }
    return best === null ? undefined : this.#take(best.tenant, best.caller, true)
  }

  /**
   * Takes the newest request of the caller with the most waiting requests, of the tenant with the most. Takes none if
   * `owner` has as many, or one less.
   */
  takeFromGreediest(owner: RequestOwner): QueuedRequest | undefined {
    const [tenant, most] = greatest(this.#tenants, sizeOf)
    const otherTenant = tenant !== owner.tenant
    if (otherTenant && most < sizeOf(this.#tenants.get(owner.tenant) ?? newCallerQueues()) + 2)
      return undefined
    const callers = this.#tenants.get(tenant) ?? newCallerQueues()
    const [caller, count] = greatest(callers, lengthOf)
    if (!otherTenant && count < (callers.get(owner.caller)?.length ?? 0) + 2) return undefined
    return this.#take(tenant, caller, false)
  }

  /** Removes the request of this receiver. The turns of the others stay. */
  remove(receiver: ResponseReceiver): QueuedRequest | undefined {
    if (this.size === 0) return undefined
    const { tenant, caller } = receiver.owner
    const callers = this.#tenants.get(tenant)
    const list = callers?.get(caller)
    const at = list?.findIndex((item) => item.receiver === receiver) ?? -1
    if (callers === undefined || list === undefined || at < 0) return undefined
    const [item] = list.splice(at, 1)
    this.size--
    if (list.length === 0) callers.delete(caller)
    if (callers.size === 0) this.#tenants.delete(tenant)
    return item
  }

  /** For each caller, the number of requests that wait since that time or longer; at least one. */
  *overdue(since: number): Generator<readonly [owner: RequestOwner, count: number]> {
    for (const [tenant, callers] of this.#tenants)
      for (const [caller, list] of callers) {
        const count = list.findIndex((item) => item.since > since)
        if (count !== 0) yield [{ tenant, caller }, count < 0 ? list.length : count]
      }
  }

  *[Symbol.iterator](): Generator<QueuedRequest> {
    for (const callers of this.#tenants.values()) for (const list of callers.values()) yield* list
  }

  #take(tenant: string, caller: string, oldest: boolean): QueuedRequest | undefined {
    const callers = this.#tenants.get(tenant)
    const list = callers?.get(caller)
    if (callers === undefined || list === undefined) return undefined
    const item = oldest ? list.shift() : list.pop()
    this.size--
    // The caller, and its tenant, move to the end of the order. A single entry stays where it is.
    if (list.length === 0 || callers.size > 1) callers.delete(caller)
    if (list.length > 0) callers.set(caller, list)
    if (callers.size === 0 || this.#tenants.size > 1) this.#tenants.delete(tenant)
    if (callers.size > 0) this.#tenants.set(tenant, callers)
    return item
  }
}

function getOrInsert<V>(map: Map<string, V>, key: string, make: () => V): V {
  const existing = map.get(key)
  if (existing !== undefined) return existing
  const made = make()
  map.set(key, made)
  return made
}

function newCallerQueues(): CallerQueues {
  return new Map()
}

function newList(): QueuedRequest[] {
  return []
}

function lengthOf(list: readonly QueuedRequest[]): number {
  return list.length
}

function sizeOf(callers: CallerQueues): number {
  let size = 0
  for (const { length } of callers.values()) size += length
  return size
}

/** The first key with the largest weight; a weight of 0 if the map is empty. */
function greatest<V>(map: ReadonlyMap<string, V>, weigh: (value: V) => number): [key: string, most: number] {
  let [greatest, most] = ['', 0]
  for (const [key, value] of map) {
    const weight = weigh(value)
    if (weight > most) [greatest, most] = [key, weight]
  }
  return [greatest, most]
}
