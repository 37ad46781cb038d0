/** Comments `# seatgate: accept CODE`: they accept what is found at the line below them. */

import { type Fault, ONLINE_FAULTS, WARNINGS } from './faults.ts'
import { didYouMean } from './invalid-value.ts'

const CODES = { ...WARNINGS, ...ONLINE_FAULTS }

const COMMENT = /^\s*#/
const DIRECTIVE = /^\s*#\s*seatgate:\s*accept\s+(.*?)\s*$/

/** A warning, or a fault of the surroundings. */
export type Acceptable = Fault & { readonly code: string }

export interface AcceptedWarnings {
  accepts(found: Acceptable): boolean
  /** Codes that are none. */
  readonly faults: readonly Fault[]
}

/** @param file the path to display */
export function acceptedWarnings(file: string, text: string): AcceptedWarnings {
  const byLine = new Map<number, string[]>()
  const faults: Fault[] = []
  let pending: string[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (!COMMENT.test(line)) {
      if (pending.length > 0) byLine.set(index + 1, pending)
      pending = []
      continue
    }
    const codes = DIRECTIVE.exec(line)?.[1]?.split(/[\s,]+/) ?? []
    for (const code of codes) if (!isCode(code)) faults.push(unknown(file, index, line, code))
    pending.push(...codes)
  }
  const accepts = ({ code, place }: Acceptable) =>
    place.file === file && (byLine.get(place.line)?.includes(code) ?? false)
  return { accepts, faults }
}

function isCode(code: string): boolean {
  return Object.hasOwn(CODES, code)
}

function unknown(file: string, index: number, line: string, code: string): Fault {
  const place = { file, line: index + 1, column: line.indexOf(code) + 1 }
  const message = `"${code}" is not the code of a warning${didYouMean(code, Object.keys(CODES))}`
  return { place, message }
}
