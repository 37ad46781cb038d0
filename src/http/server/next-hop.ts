/** The upstream, or the handler of the gateway, that responds to an allowed request. */

import { Slot } from './exchange.ts'

export class NextHop {
  /** Monotonic ms: when the request was passed on. */
  readonly startedAt: number
  /** Monotonic ms: the head of the response; 0 before it. */
  respondedAt = 0
  /** The origin of the target of the last attempt; null if a handler of the gateway answers. */
  target: string | null = null

  constructor(startedAt: number) {
    this.startedAt = startedAt
  }
}

/** Empty for a refused request. Owners: `proxy/attempts.ts`, and the stages of built-in endpoints. */
export const nextHop = new Slot<NextHop>()
