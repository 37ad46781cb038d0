/** Reads the id of a space. */

import { isSpaceId } from '../../seats-admin/model/space.ts'
import { InvalidValue } from './invalid-value.ts'

export function spaceId(text: string): string | InvalidValue {
  return isSpaceId(text)
    ? text
    : new InvalidValue(
        'is not a space id: 1 to 128 letters, digits and . _ ~ -, beginning with a letter or digit',
      )
}
