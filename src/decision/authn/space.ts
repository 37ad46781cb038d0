/** The `Space` header: which space the caller means. Exactly one, for routes that need a permission. */

import { isSpaceId } from '../../../seats-admin/model/space.ts'
import { Refusal } from '../../model/errors.ts'
import type { Credentials } from '../../model/authorization-request.ts'
import { MadeOf } from '../../lib/made-of.ts'

const missing = new Refusal(
  'space_required',
  'This route needs a permission in a space: send one Space header.',
)
/** Refused before anything else about the caller is looked at, as repeated credentials are. */
export const repeatedSpace = new Refusal(
  'request_malformed',
  'The Space header is sent more than once or names several spaces.',
)
const malformed = new Refusal('request_malformed', 'The Space header is not a space id.')

const space = new MadeOf(({ space: lines }: Credentials) => readSpace(lines))

/** Looked at once, where the same lines come again. */
export function spaceOf(credentials: Credentials): string | Refusal {
  return space.of(credentials)
}

/** @param lines the values of all Space header lines */
export function readSpace(lines: readonly string[]): string | Refusal {
  const [value] = lines
  if (value === undefined) return missing
  if (lines.length > 1 || value.includes(',')) return repeatedSpace
  return isSpaceId(value) ? value : malformed
}
