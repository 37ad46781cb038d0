/**
 * The header fields `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-11): lists of structured fields
 * (RFC 9651). `q` and `w` are the limit's own. `r` is what the key has, `t` the seconds until it has one more. Where the limit
 * is divided, `q` is the share of this process, and `seatgate-shares` the number of shares.
 */

import { type RateLimit, shareOf } from '../../model/rate-limit.ts'
import type { Part } from './limited-keys.ts'

/** @param refusal the limit that refuses the request, and after how many ms it may come again; null: it passes */
export function rateLimitLines(
  parts: readonly Part[],
  now: number,
  refusal: { readonly limit: RateLimit; readonly retryAfter: number } | null,
): string {
  let policy = ''
  let state = ''
  for (const { keys, key } of parts) {
    const { limit, shares } = keys
    const separator = policy === '' ? '' : ', '
    policy += `${separator}"${limit.name}";q=${quota(limit, shares)};w=${limit.window / 1000}`
    if (shares > 1) policy += `;seatgate-shares=${shares}`
    const refused = refusal?.limit === limit
    const left = Math.max(0, keys.left(key, now))
    const remaining = refused ? 0 : Math.floor(left)
    const { rate } = shareOf(limit, shares)
    const wait = refused ? refusal.retryAfter : (Math.floor(left) + 1 - left) / rate
    state += `${separator}"${limit.name}";r=${remaining};t=${seconds(wait)}`
  }
  return `RateLimit-Policy: ${policy}\r\nRateLimit: ${state}\r\n`
}

function quota({ limit }: RateLimit, shares: number): number {
  return Math.max(1, Math.floor(limit / shares))
}

/** Rounded up: a client that comes back then is not early. At least one. */
export function seconds(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1000))
}
