/** Reads `workers:`. */

import { availableParallelism } from 'node:os'
import type { Section } from './section.ts'

const MAX_WORKERS = 128

/** Also for values of a wrong type. */
export const WORKERS_FAULT = `workers must be auto or a whole number from 1 to ${MAX_WORKERS}`

/** A number, or `auto`: one for each core that this process may use. */
export function buildWorkers(root: Section): number {
  const value = root.value('workers') ?? root.count('workers')
  if (value === 'auto') return availableParallelism()
  if (/^[1-9][0-9]{0,2}$/.test(String(value)) && Number(value) <= MAX_WORKERS) return Number(value)
  root.fault('workers', WORKERS_FAULT)
  return 1
}
