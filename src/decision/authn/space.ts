/** The `Space` header: the space of the request. Routes with a permission require exactly one. */

import { isSpaceId } from '../../../seats-admin/model/space.ts'
import { Refusal } from '../../model/errors.ts'
import type { Credentials } from '../../model/authorization-request.ts'

const missing = new Refusal(
  'space_required',
  'This route needs a permission in a space: send one Space header.',
)
/** Checked before the credential, as repeated credentials are. */
export const repeatedSpace = new Refusal(
  'request_malformed',
  'The Space header is sent more than once or names several spaces.',
)
const malformed = new Refusal('request_malformed', 'The Space header is not a space id.')

export function spaceOf({ space: lines }: Credentials): string | Refusal {
  const [value] = lines
  if (value === undefined) return missing
  if (lines.length > 1 || value.includes(',')) return repeatedSpace
  return isSpaceId(value) ? value : malformed
}
