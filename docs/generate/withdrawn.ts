/** What a later major version drops. The comparison with the last release lets go only what that release lists here. */

import { code, table } from './regions.ts'

export interface Withdrawn {
  /** The name in the comparison's messages, such as `gateway: redis` or `seatgate lint --seats`. */
  readonly name: string
  /** The first version that warns. */
  readonly since: string
  /** The first version without it. */
  readonly until: string
  /** What replaces it, in Markdown. */
  readonly instead: string
}

export const WITHDRAWN: readonly Withdrawn[] = []

export function withdrawnTable(): string {
  if (WITHDRAWN.length === 0) return 'Nothing is withdrawn at present.'
  return table(
    ['withdrawn', 'since', 'dropped in', 'instead'],
    WITHDRAWN.map(({ name, since, until, instead }) => [code(name), since, until, instead]),
  )
}
