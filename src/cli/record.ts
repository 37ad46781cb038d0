/** The whole decision record as JSON, which has no Map, Set or Infinity. */

import type { Decision } from '../model/decision.ts'

/**
 * Maps become objects, Sets arrays, Infinity (no limit) `"unlimited"`, and -Infinity (the time of issue of a token
 * without `iat`) null.
 */
export function recordAsJson(decision: Decision): string {
  return JSON.stringify(decision, plain, 2)
}

function plain(_key: string, value: unknown): unknown {
  if (value instanceof Map) return Object.fromEntries(value)
  if (value instanceof Set) return [...value]
  if (value === Infinity) return 'unlimited'
  return value === -Infinity ? null : value
}
