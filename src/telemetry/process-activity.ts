/** What one process remembers of the requests that it has decided. */

import type {
  Activity,
  DecisionFilter,
  DecisionQuery,
  DecisionWatch,
  RecentDecision,
  RouteUses,
  TakeBatch,
} from '../model/activity.ts'
import type { Decision } from '../model/decision.ts'
import type { Refusal } from '../model/errors.ts'
import type { Route } from '../model/route.ts'
import { DecisionQueue } from './decision-queue.ts'
import { RecentDecisions } from './recent-decisions.ts'
import { RouteCounts } from './route-counts.ts'

export class ProcessActivity implements Activity {
  readonly counts = new RouteCounts()
  readonly recent = new RecentDecisions()

  /**
   * Called once for each request, and again when an open one is refused later. Requests of no known tenant
   * are not remembered.
   *
   * @param refusal null if the request is served or forwarded
   */
  decided(requestId: string, decision: Decision, refusal: Refusal | null): void {
    const { principal, route } = decision
    const caller = principal ?? refusal?.caller ?? null
    if (caller === null) return
    const now = Date.now()
    if (refusal === null && route !== null) this.counts.count(caller.tenant, route.id, now)
    this.recent.record(now, requestId, decision, refusal === null ? 'allow' : refusal.code, caller)
  }

  /** Applies a configuration. */
  retain(tenants: { has(id: string): boolean }, routes: readonly Route[]): void {
    this.counts.retain(tenants, new Set(routes.map(({ id }) => id)))
    this.recent.retain(tenants)
  }

  routeUses(tenant: string): Promise<RouteUses> {
    return Promise.resolve(this.counts.of(tenant))
  }

  decisions(query: DecisionQuery): Promise<readonly RecentDecision[]> {
    return Promise.resolve(this.recent.list(query))
  }

  watch(filter: DecisionFilter, take: TakeBatch): Promise<DecisionWatch> {
    return Promise.resolve(this.watchOwn(filter, take))
  }

  /** The decisions of this process alone. */
  watchOwn(filter: DecisionFilter, take: TakeBatch): DecisionWatch {
    const queue = new DecisionQueue(filter, take)
    const end = this.recent.watch(filter, queue)
    return {
      resume: () => queue.resume(),
      close: () => {
        end()
        queue.close()
      },
    }
  }
}
