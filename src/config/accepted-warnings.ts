/**
 * Comments `# seatgate: accept CODE`. Such a comment accepts the warnings of the line below it; before
 * `routes:` of a table, it accepts those of the whole table.
 */

import { type Fault, ONLINE_FAULTS, WARNINGS } from './faults.ts'
import { didYouMean } from './invalid-value.ts'

const CODES = { ...WARNINGS, ...ONLINE_FAULTS }

const COMMENT = /^\s*#/
const DIRECTIVE = /^\s*#\s*seatgate:\s*accept\s+(.*?)\s*$/

/** A warning, or a fault of the machine's environment. */
export type Acceptable = Fault & { readonly code: string }

export type AcceptedWarnings = ReturnType<typeof acceptedWarnings>

/**
 * The line of the key `routes`. The main file has that key too, but its comments accept warnings of single
 * lines only.
 */
const ROUTES = /^(["']?)routes\1\s*:/

/**
 * @param file the path to display
 * @param isTable the file is a route table
 */
export function acceptedWarnings(file: string, text: string, isTable: boolean) {
  const head = new Set<string>()
  let isHead = isTable
  const byLine = new Map<number, string[]>()
  const faults: Fault[] = []
  let pending: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (!COMMENT.test(line)) {
      if (pending.length > 0) byLine.set(index + 1, pending)
      pending = []
      isHead &&= !ROUTES.test(line)
      continue
    }
    const codes = DIRECTIVE.exec(line)?.[1]?.split(/[\s,]+/) ?? []
    for (const code of codes) if (!Object.hasOwn(CODES, code)) faults.push(unknown(file, index, line, code))
    pending.push(...codes)
    if (isHead) for (const code of codes) head.add(code)
  }
  // A file without `routes:` has no comment before it.
  const all = isHead ? new Set<string>() : head
  const accepts = ({ code, place }: Acceptable) =>
    place.file === file && (all.has(code) || (byLine.get(place.line)?.includes(code) ?? false))
  return {
    accepts,
    /** The faults of codes that do not exist. */
    faults,
  }
}

function unknown(file: string, index: number, line: string, code: string): Fault {
  const place = { file, line: index + 1, column: line.indexOf(code) + 1 }
  const message = `"${code}" is not the code of a warning${didYouMean(code, Object.keys(CODES))}`
  return { place, message }
}
