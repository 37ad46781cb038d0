/** A failed assertion or a skipped test as text. */

import type { Result } from 'tap-parser'

interface Diagnostics {
  readonly at?: { readonly fileName?: string; readonly lineNumber?: number; readonly columnNumber?: number }
  readonly diff?: string
  readonly stack?: string
  readonly [name: string]: unknown
}

/** Already in the text, or of no use in it. */
const LEFT_OUT = new Set(['at', 'diff', 'stack', 'source', 'compare', 'failures', 'handles'])

/** `place name`, what differs, other diagnostics, and the stack. */
export function describeFailure({ fullname, name, diag }: Result): string {
  const { at, diff, stack, ...more }: Diagnostics = diag ?? {}
  const place = at === undefined ? '' : `${at.fileName}:${at.lineNumber}:${at.columnNumber} `
  const others = Object.entries(more)
    .filter(([key]) => !LEFT_OUT.has(key))
    .map(([key, value]) => `${key}: ${typeof value === 'string' ? value.trimEnd() : JSON.stringify(value)}`)
  const title = fullname.endsWith(name) ? fullname : `${fullname} > ${name}`
  return [`${place}${title}`, ...present(diff), ...others, ...present(stack)].join('\n')
}

/** `name: reason` */
export function describeSkip({ fullname, skip }: Result): string {
  return `${fullname.replace(' > (unnamed test)', '')}: ${typeof skip === 'string' ? skip : 'no reason given'}`
}

function present(text: string | undefined): string[] {
  return text === undefined ? [] : [text.trimEnd()]
}
