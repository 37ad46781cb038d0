/** Reads of administration. */

import { type AdminRefusal, apiKeyNotFound, isRefusal, seatNotFound } from '../model/refusal.ts'
import { maySee, type Scope } from '../model/scope.ts'
import type { StoredSeat } from '../model/seat.ts'
import { EVERY_SEATS_FROM, type SeatsFrom } from '../model/seats-from.ts'
import type { User } from '../model/user.ts'
import { blockQueries, storedBlock, subDigest } from './block-queries.ts'
import type { Database, Lists } from './database.ts'
import {
  apiKeyById,
  apiKeyOfSpaces,
  listing,
  seatById,
  seatIsVisible,
  spacesOf,
  visibilityOf,
} from './pages.ts'
import { lower, rangeListing, rangeQueries, rangeValues, userRangeQuery } from './range-listings.ts'
import { apiKey, apiKeyColumns, type Dialect, listedSeat, type Row, storedSeat, text } from './rows.ts'
import { grantQueries, listedGrant } from './seat-grant-queries.ts'
import { seatNamed } from './seat-grant-writer.ts'
import { listedSession, sessionLists } from './session-queries.ts'
import type { Values } from './statements.ts'
import { listedSeatColumns } from './seats-of-users.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { AdminStore, Listing, Page, UserPage } from './store.ts'
import { user, userColumns } from './user-rows.ts'

export function adminReader({ lists, dialect }: Database) {
  const queries = {
    ...adminQueries(dialect),
    ...blockQueries(dialect),
    grants: grantQueries(dialect),
    ...sessionLists,
  }
  const bySeatsFrom = new Map(EVERY_SEATS_FROM.map((each) => [each, userAndSeatQueries(dialect, each)]))
  const from = (seatsFrom: SeatsFrom = null) =>
    bySeatsFrom.get(seatsFrom) ?? userAndSeatQueries(dialect, seatsFrom)
  return {
    async readSeat(tenant, id, scope) {
      const values = { tenant, id: storableOrEmpty(id), ...visibilityOf(scope) }
      return visibleSeat(await lists.get(queries.seat, values), scope)
    },

    async readApiKey(tenant, id, scope) {
      const values = { tenant, id: storableOrEmpty(id), ...visibilityOf(scope) }
      const row = await lists.get(queries.apiKey, values)
      return row === undefined ? apiKeyNotFound : apiKey(row)
    },

    async readUser(tenant, sub, scope, seatsFrom) {
      const values = { tenant, sub: storableOrEmpty(sub), ...visibilityOf(scope) }
      return visibleUser(await lists.get(from(seatsFrom).user, values), scope)
    },

    async listSeats(tenant, page) {
      const { ranges, seats, seatsOfSpaces } = from(page.seatsFrom)
      if (page.grant != null) return ranged(lists, ranges.seatsGranting, tenant, page, listedSeat)
      return paged(lists, page.scope.admin ? seats : seatsOfSpaces, tenant, page, listedSeat)
    },

    async listApiKeys(tenant, page) {
      const owner = { owner_digest: page.owner == null ? null : subDigest(page.owner) }
      const isOwned = page.owner != null
      const { ranges } = from()
      if (page.grant != null)
        return ranged(
          lists,
          isOwned ? ranges.apiKeysGrantingOf : ranges.apiKeysGranting,
          tenant,
          page,
          apiKey,
          owner,
        )
      const { all, ofSpaces } = isOwned ? queries.apiKeysOfOwner : queries.apiKeys
      return paged(lists, page.scope.admin ? all : ofSpaces, tenant, page, apiKey, owner)
    },

    listUsers: (tenant, page) =>
      ranged(lists, from(page.seatsFrom).ranges[userRangeQuery(page)], tenant, page, user),

    async usersByEmail(tenant, email, limit) {
      const values = { tenant, email: lower(storableOrEmpty(email)), limit }
      return (await lists.all(USERS_BY_EMAIL, values)).map((row) => text(row, 'sub'))
    },

    async isKnownUser(tenant, sub) {
      const values = {
        tenant,
        sub: storableOrEmpty(sub),
        quoted: JSON.stringify(sub),
        digest: subDigest(sub),
      }
      return (await lists.get(KNOWN_USER, values)) !== undefined
    },

    async listSessions(tenant, { user: sub, now, ...page }) {
      const values = { ...pageValues(tenant, page), now }
      const rows =
        sub === null
          ? await lists.all(queries.sessions, values)
          : await lists.all(queries.sessionsOfUser, { ...values, sub: JSON.stringify(sub) })
      return pageOf(rows, page.limit, listedSession)
    },

    async listBlocks(tenant, page) {
      return pageOf(await lists.all(queries.listBlocks, pageValues(tenant, page)), page.limit, storedBlock)
    },

    async listGrants(tenant, { user: sub, seat, endingBefore, scope, ...page }) {
      const row = seat === null ? undefined : await seatNamed(dialect, lists, { tenant, scope }, seat)
      if (isRefusal(row)) return row
      if (row === null) return { data: [], hasMore: false }
      const { list, listOfUser, listOfSeat, listOfBoth } = queries.grants
      const [ofUser, any] = row === undefined ? [listOfUser, list] : [listOfBoth, listOfSeat]
      const values = {
        ...pageValues(tenant, page),
        ...visibilityOf(scope),
        ending_before: endingBefore ?? Number.MAX_SAFE_INTEGER,
        ...(sub === null ? {} : { sub_digest: subDigest(sub) }),
        ...(row === undefined ? {} : { seat_id: text(row, 'id') }),
      }
      return pageOf(await lists.all(sub === null ? any : ofUser, values), page.limit, listedGrant)
    },
  } satisfies Partial<AdminStore>
}

/** By its index, whose expression and condition it has. */
const USERS_BY_EMAIL = `SELECT sub FROM users WHERE tenant = :tenant AND email IS NOT NULL AND lower(email) = :email
  ORDER BY sub LIMIT :limit`

const KNOWN_USER = `SELECT 1 AS one FROM users WHERE tenant = :tenant AND sub = :sub
  UNION ALL SELECT 1 FROM api_keys WHERE tenant = :tenant AND owner_digest = :digest AND revoked_at IS NULL
  UNION ALL SELECT 1 FROM sessions WHERE tenant = :tenant AND sub = :quoted AND ended_at IS NULL
  LIMIT 1`

async function paged<V extends { readonly id: string }>(
  lists: Lists,
  statement: string,
  tenant: string,
  page: Page,
  toValue: (row: Row) => V,
  more: Values = {},
): Promise<Listing<V>> {
  const values = { ...pageValues(tenant, page), limit: page.limit, spaces: spacesOf(page.scope), ...more }
  const { rows, hasMore } = await lists.page(statement, values, page.limit)
  const data = rows.map(toValue)
  return listing(data, hasMore ? (data.at(-1)?.id ?? null) : null)
}

async function ranged<V>(
  lists: Lists,
  statement: string,
  tenant: string,
  page: UserPage,
  toValue: (row: Row) => V,
  more: Values = {},
): Promise<Listing<V>> {
  const values = rangeValues(tenant, page)
  return rangeListing(values === null ? [] : await lists.all(statement, { ...values, ...more }), toValue)
}

/** One row more than the page, to learn whether there are more. */
function pageValues(tenant: string, { limit, after }: Pick<Page, 'limit' | 'after'>) {
  return { tenant, after: storableOrEmpty(after ?? ''), rows: limit + 1 }
}

/** @param rows one more than the page has, if there are more */
function pageOf<V>(rows: readonly Row[], limit: number, toValue: (row: Row) => V) {
  return { data: rows.slice(0, limit).map(toValue), hasMore: rows.length > limit }
}

/** In order of creation; one row more than the page, to learn whether there are more. */
const PAGE = 'ORDER BY id LIMIT :rows'

/** Lists are pages. `…OfSpaces`: restricted to what is visible outside the admin space. */
function adminQueries(dialect: Dialect) {
  const pageOfKeys = (rows: string) => dialect.page(`${rows} ${PAGE}`, ['seats'], 'ASC')
  const keys = (condition = '') => {
    const all = `SELECT ${apiKeyColumns(dialect)} FROM api_keys k WHERE k.tenant = :tenant AND k.id > :after ${condition}`
    return { all: pageOfKeys(all), ofSpaces: pageOfKeys(`${all} AND ${apiKeyOfSpaces(dialect)}`) }
  }
  return {
    seat: seatById(dialect),
    apiKey: apiKeyById(dialect),
    apiKeys: keys(),
    apiKeysOfOwner: keys('AND k.owner_digest = :owner_digest'),
  }
}

/** Those that depend on what gives users Seats. */
function userAndSeatQueries(dialect: Dialect, seatsFrom: SeatsFrom) {
  const pageOfSeats = (rows: string) => dialect.page(`${rows} ${PAGE}`, ['spaces', 'permissions'], 'ASC')
  const seats = `SELECT ${listedSeatColumns(seatsFrom)} FROM seats s WHERE s.tenant = :tenant AND s.id > :after`
  const user = userColumns(dialect, seatsFrom, `AND ${seatIsVisible(dialect)}`)
  return {
    user: `SELECT ${user} FROM users u WHERE u.tenant = :tenant AND u.sub = :sub`,
    seats: pageOfSeats(seats),
    seatsOfSpaces: pageOfSeats(`${seats} AND ${dialect.spacesColumn} = :spaces`),
    ranges: rangeQueries(dialect, seatsFrom),
  }
}

/** Outside the admin space, a user is visible through a visible Seat, of a grant too. */
function visibleUser(row: Row | undefined, scope: Scope): User | null {
  if (row === undefined) return null
  const shown = user(row)
  return scope.admin || shown.seats.length > 0 || shown.grants !== undefined ? shown : null
}

function visibleSeat(row: Row | undefined, scope: Scope): StoredSeat | AdminRefusal {
  if (row === undefined) return seatNotFound
  const seat = storedSeat(row)
  return maySee(scope, seat.spaces) ? seat : seatNotFound
}
