/** The reasons for which a replay does not judge a line, as a table. */

import { REASONS } from '../../src/access/replay/unjudged-reasons.ts'
import { code, table } from './regions.ts'

export function reasonTable(): string {
  return table(
    ['reason', 'meaning'],
    Object.entries(REASONS).map(([reason, meaning]) => [code(reason), meaning]),
  )
}
