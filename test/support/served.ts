/** Requests that need the store or a lease, on a machine that may stand still for longer than either waits. */

import { until } from './until.ts'

/** Asks again after 503. */
export async function served<A extends { readonly status: number }>(ask: () => Promise<A>): Promise<A> {
  let answer = await ask()
  await until(
    async () => answer.status !== 503 || (answer = await ask()).status !== 503,
    'an answer other than 503',
  )
  return answer
}
