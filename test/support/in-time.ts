/**
 * Attempts within the limits of a gateway's end, which may be over on a slow machine before the test does its
 * part.
 */

import { until } from './until.ts'

interface Attempt<V> {
  readonly value: V
  /** Milliseconds that the test took for its part. */
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
