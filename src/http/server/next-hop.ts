/** The upstream, or the handler of the gateway, that responds to an allowed request. */

import { Slot } from './exchange.ts'

export class NextHop {
  /** Monotonic ms: when the request was passed on. */
  readonly startedAt: number
  /** Monotonic ms: the head of the response; 0 before it. */
  respondedAt = 0
  /** The origin of the upstream's target of the last attempt; null: a handler of the gateway. */
  target: string | null = null

  constructor(startedAt: number) {
    this.startedAt = startedAt
  }
}

/** Empty for a request that is refused. Owners: `proxy/attempts.ts`, and the stages that serve built-in endpoints. */
export const nextHop = new Slot<NextHop>()
