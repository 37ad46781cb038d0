/** The decision record as JSON, whole: JSON by itself has no Map, no Set and no Infinity. */

import type { Decision } from '../model/decision.ts'

/**
 * Maps become objects, Sets arrays; Infinity, which is a limit that there is none of, `"unlimited"`. -Infinity is the
 * time of issue of a token that names none: null.
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
