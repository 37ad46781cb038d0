/**
 * How often the callers of each tenant have used each route. Two look-ups for each request. Bounded by the
 * configuration: an entry for each tenant and route that were used together.
 */

import type { RouteUse, RouteUses } from '../model/activity.ts'

interface Count {
  requests: number
  lastAt: number
}

/** The counts of one tenant, as a worker reports them. */
export type ReportedUses = readonly (readonly [tenant: string, uses: RouteUses])[]

export class RouteCounts {
  readonly #byTenant = new Map<string, Map<string, Count>>()

  /**
   * @param route its id
   * @param now ms since the epoch
   */
  count(tenant: string, route: string, now: number): void {
    const count = this.#countOf(tenant, route)
    count.requests++
    count.lastAt = now
  }

  /** A copy: it does not change any more. */
  of(tenant: string): RouteUses {
    const counts = this.#byTenant.get(tenant) ?? []
    return new Map([...counts].map(([route, count]) => [route, { ...count }]))
  }

  /** All counts. They begin at 0 again. */
  take(): ReportedUses {
    const uses = [...this.#byTenant]
    this.#byTenant.clear()
    return uses
  }

  add(reported: ReportedUses): void {
    for (const [tenant, uses] of reported)
      for (const [route, use] of uses) addTo(this.#countOf(tenant, route), use)
  }

  /** Applies a configuration: removes the counts of what it no longer has. */
  retain(tenants: { has(id: string): boolean }, routes: ReadonlySet<string>): void {
    for (const [tenant, counts] of this.#byTenant) {
      if (!tenants.has(tenant)) this.#byTenant.delete(tenant)
      for (const route of counts.keys()) if (!routes.has(route)) counts.delete(route)
    }
  }

  #countOf(tenant: string, route: string): Count {
    let counts = this.#byTenant.get(tenant)
    if (counts === undefined) this.#byTenant.set(tenant, (counts = new Map()))
    let count = counts.get(route)
    if (count === undefined) counts.set(route, (count = { requests: 0, lastAt: 0 }))
    return count
  }
}

function addTo(count: Count, { requests, lastAt }: RouteUse): void {
  count.requests += requests
  count.lastAt = Math.max(count.lastAt, lastAt)
}
