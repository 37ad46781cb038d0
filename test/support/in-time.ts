/** Waits that the end of a gateway gives up: on a slow machine they may be over before the test does its part. */

import { until } from './until.ts'

interface Attempt<V> {
  readonly value: V
  /** ms that the test took for its part. */
  readonly took: number
}

/** Resolves with the value of the first attempt that is as expected, or that took less than `limit` ms. */
export async function inTime<V>(
  limit: number,
  isExpected: (value: V) => boolean,
  attempt: () => Promise<Attempt<V>>,
): Promise<V> {
  const look = async () => {
    const { value, took } = await attempt()
    return (isExpected(value) || took < limit) && { value }
  }
  return (await until(look, `an attempt of less than ${limit} ms`)).value
}
