/** SQL of administration's reads of sessions that both drivers share. */

import type { ListedSession } from '../model/session-record.ts'
import type { Row } from './rows.ts'
import { LISTED_COLUMNS, listedSession } from './session-rows.ts'

export interface SessionPage {
  readonly limit: number
  /** The page contains ids greater than this one. */
  readonly after: string | null
  /** Only sessions of this user; null: of all. */
  readonly user: string | null
  /** Only sessions that have not expired by then, ms since the epoch. */
  readonly now: number
}

const LIVE = `SELECT ${LISTED_COLUMNS} FROM sessions
  WHERE tenant = :tenant AND id > :after AND ended_at IS NULL AND expires_at > :now`
/** In order of the random id; one row more than the page, to learn whether there are more. */
const PAGE = 'ORDER BY id LIMIT :rows'

export const sessionLists = {
  sessions: `${LIVE} ${PAGE}`,
  sessionsOfUser: `${LIVE} AND sub = :sub ${PAGE}`,
}

export function sessionPageValues(tenant: string, { limit, after, user, now }: SessionPage) {
  const values = { tenant, after: after ?? '', rows: limit + 1, now }
  return user === null ? values : { ...values, sub: JSON.stringify(user) }
}

export function sessionListing(
  rows: readonly Row[],
  { limit }: SessionPage,
): { data: ListedSession[]; hasMore: boolean } {
  return { data: rows.slice(0, limit).map(listedSession), hasMore: rows.length > limit }
}
