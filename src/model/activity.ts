/**
 * What an instance remembers of the requests that it has decided: how often routes are used, and the newest
 * decisions.
 */

import type { ErrorCode } from './errors.ts'

/** How often one tenant has used a route. */
export interface RouteUse {
  /** Allowed requests since the instance started. */
  readonly requests: number
  /** ms since the epoch: the latest of them. */
  readonly lastAt: number
}

export const UNUSED: { readonly requests: number; readonly lastAt: null } = { requests: 0, lastAt: null }

/** The uses of a tenant, by the id of the route. Routes that are not used are left out. */
export type RouteUses = ReadonlyMap<string, RouteUse>

export type DecisionCode = 'allow' | ErrorCode

/** A decision on a request of a known tenant. It has no credential and no query. */
export interface RecentDecision {
  /** A ULID. Ids sort by time. */
  readonly id: string
  /** ms since the epoch */
  readonly at: number
  readonly code: DecisionCode
  readonly method: string
  /** The normalised path; its beginning if it is long. */
  readonly path: string
  /** Null: none matches, or it is one for callers of another tenant. */
  readonly route: string | null
  readonly permission: string | null
  readonly space: string | null
  /** The user; its beginning if it is long; null: the credential names none. */
  readonly user: string | null
  /** Names of the caller's Seats that list the space. */
  readonly seats: readonly string[]
  readonly requestId: string
}

export interface DecisionFilter {
  readonly tenant: string
  /** The space; null: every one, and none. */
  readonly space: string | null
  /** The code; null: every one. */
  readonly code: DecisionCode | null
}

export interface DecisionQuery extends DecisionFilter {
  readonly limit: number
  /** Only decisions with smaller ids, which are older; null: from the newest on. */
  readonly before: string | null
  /** The id of the asking request, which is left out. */
  readonly requestId: string
}

/** What has happened since the last batch. */
export interface DecisionBatch {
  /** Oldest first. */
  readonly decisions: readonly RecentDecision[]
  /** Decisions that came after these and are left out. */
  readonly lost: number
}

/** @returns false: the reader is slow, and takes the next batch after `resume` */
export type TakeBatch = (batch: DecisionBatch) => boolean

export interface DecisionWatch {
  resume(): void
  close(): void
}

/** The activity of an instance, of all its workers, for endpoints. */
export interface Activity {
  routeUses(tenant: string): Promise<RouteUses>
  /** Newest first. */
  decisions(query: DecisionQuery): Promise<readonly RecentDecision[]>
  /** Watches decisions: each one after the result is in a batch, or counts as lost. */
  watch(filter: DecisionFilter, take: TakeBatch): Promise<DecisionWatch>
}

export function matchesFilter(
  { code, space }: Pick<RecentDecision, 'code' | 'space'>,
  filter: Omit<DecisionFilter, 'tenant'>,
): boolean {
  return (filter.code === null || code === filter.code) && (filter.space === null || space === filter.space)
}
