/**
 * Bounds the verifications of a tenant's signals that are in flight: anyone can send a token that only its
 * signature shows to be forged. What waits, waits in order; what comes when too many wait is refused, so that
 * the provider repeats it. Sign-ins do not wait for a turn.
 */

import { Refusal } from '../../model/errors.ts'

const IN_FLIGHT = 8
const WAITING = 64

const busy = new Refusal('unavailable', 'Too many requests of identity providers are being verified.', {
  retryAfter: 1000,
})

export class VerificationTurns {
  #inFlight = 0
  readonly #waiting: (() => void)[] = []

  async run<T>(verify: () => Promise<T>): Promise<T | Refusal> {
    if (this.#inFlight < IN_FLIGHT) this.#inFlight++
    else if (this.#waiting.length >= WAITING) return busy
    // The one that ends passes its turn on.
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    try {
      return await verify()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#inFlight--
      else next()
    }
  }
}
