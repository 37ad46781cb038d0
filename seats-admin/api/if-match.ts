/** Parses `If-Match` (RFC 9110, section 13.1.1). */

import type { IfMatch } from '../model/entity-tag.ts'
import { type AdminRefusal, inputInvalid } from '../model/refusal.ts'

/** Section 8.8.3, and the commas of a list with empty elements (section 5.6.1). */
const TAG = /[ \t]*(?:(W\/)?("[\x21\x23-\x7e\x80-\xff]*")[ \t]*)?(?:,|$)/y

const malformed = inputInvalid([
  { path: '', message: 'If-Match must be * or a list of entity tags, each in double quotes' },
])

/**
 * A malformed field is refused: it would be unclear which state the client expects.
 *
 * @param lines the values of the field lines
 * @returns null without the field
 */
export function readIfMatch(lines: readonly string[]): IfMatch | null | AdminRefusal {
  if (lines.length === 0) return null
  const text = lines.join(',')
  if (/^[ \t]*\*[ \t]*$/.test(text)) return '*'
  let found = 0
  const strong: string[] = []
  TAG.lastIndex = 0
  while (TAG.lastIndex < text.length) {
    const match = TAG.exec(text)
    if (match === null) return malformed
    const [, weak, tag] = match
    if (tag === undefined) continue
    found++
    if (weak === undefined) strong.push(tag)
  }
  return found === 0 ? malformed : strong
}
