/** Faults of the configuration. A load collects all of them before it reports any. */

import type { Place } from '../model/route.ts'

export interface Fault {
  readonly place: Place
  readonly message: string
}

/** `file:line:column: message`, as editors and compilers write it. */
export function formatFault(fault: Fault): string {
  return `${fault.place.file}:${fault.place.line}:${fault.place.column}: ${fault.message}`
}

/** By file in order of first occurrence, then line, then column. */
export function sortFaults(faults: readonly Fault[]): Fault[] {
  const order = new Map<string, number>()
  for (const { place } of faults) if (!order.has(place.file)) order.set(place.file, order.size)
  const rank = (file: string) => order.get(file) ?? 0
  return faults.toSorted(
    (a, b) =>
      rank(a.place.file) - rank(b.place.file) ||
      a.place.line - b.place.line ||
      a.place.column - b.place.column,
  )
}

export class ConfigError extends Error {
  readonly faults: readonly Fault[]
  /** Absolute paths and globs to watch for a correction. */
  readonly files: readonly string[]

  constructor(faults: readonly Fault[], files: readonly string[] = []) {
    super(faults.map(formatFault).join('\n'))
    this.name = 'ConfigError'
    this.faults = faults
    this.files = files
  }
}
