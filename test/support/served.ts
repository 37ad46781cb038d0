/** Requests that need the store or a lease, on a machine that may stop for longer than either waits. */

import { until } from './until.ts'

/** Repeats a request that is answered with 503. */
export function served<A extends { readonly status: number }>(ask: () => Promise<A>): Promise<A> {
  const look = async () => {
    const answer = await ask()
    return answer.status !== 503 && answer
  }
  return until(look, 'an answer other than 503')
}
