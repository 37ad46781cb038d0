/**
 * Pages of a search. A token is sealed with the tenant's token secret and bound to the search, so that no one
 * can make, change or read one, and that it continues the same search only: its position may be an entity
 * that the search does not name.
 */

import type { Refusal } from '../../model/errors.ts'
import { open, seal } from '../../oidc/seal.ts'
import { type PageRequest, invalid } from './authzen-requests.ts'

/** Results of a page. */
const DEFAULT_LIMIT = 100
export const MAX_LIMIT = 1000
/** The most characters of a token. */
const MAX_TOKEN = 4096

/** The search that a token belongs to. */
interface SearchScope {
  /** The secrets of the tenant; the first one seals. */
  readonly secrets: readonly Uint8Array[]
  /** The tenant, the kind of search and the question. */
  readonly bound: readonly unknown[]
}

export interface SearchPage {
  readonly limit: number
  /** The position after which the page begins; null: at the beginning. */
  readonly after: string | null
}

const badToken = invalid([{ path: '/page/token', message: 'is not a token of this search' }])
const otherLimit = invalid([
  { path: '/page/limit', message: 'is another limit than that of the page before' },
])

/** A request with a token may leave out the limit: the limit of the pages before stays. */
export function pageOf({ limit, token }: PageRequest, scope: SearchScope): SearchPage | Refusal {
  if (token === null) return { limit: Math.min(limit ?? DEFAULT_LIMIT, MAX_LIMIT), after: null }
  const page = opened(token, scope)
  if (page === null) return badToken
  return limit === null || Math.min(limit, MAX_LIMIT) === page.limit ? page : otherLimit
}

/** @returns '' at the end */
export function tokenOf(next: SearchPage | null, { secrets, bound }: SearchScope): string {
  return next === null ? '' : seal(JSON.stringify([next.limit, next.after]), secrets, [USE, ...bound])
}

/** Keeps these texts apart from others that are sealed with the same secrets. */
const USE = 'authzen page'

function opened(token: string, { secrets, bound }: SearchScope): SearchPage | null {
  if (token.length > MAX_TOKEN || Buffer.from(token, 'base64url').toString('base64url') !== token) return null
  const text = open(token, secrets, [USE, ...bound])
  if (text === null) return null
  const [limit, after] = JSON.parse(text) as [number, string | null]
  return { limit, after }
}
