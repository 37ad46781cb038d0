/** Lists with `--limit`: at most so many items, from as many pages as they take. */

import { UsageError } from './arguments.ts'

export const DEFAULT_LIMIT = 20
/** The number of items that are read at once. */
const READ = 100

/**
 * The value of `--limit`.
 *
 * @param most the highest limit of the command
 * @throws UsageError
 */
export function limitOf(text: string | undefined, most: number): number {
  if (text === undefined) return DEFAULT_LIMIT
  if (/^[1-9][0-9]*$/.test(text) && Number(text) <= most) return Number(text)
  throw new UsageError(`--limit is not a number from 1 to ${most}`)
}

export interface Listed<V> {
  readonly data: readonly V[]
  readonly has_more: boolean
}

/** Collects items from several pages: a page is shorter if its items are large. */
export async function collected<V extends { readonly id: string }>(
  limit: number,
  page: (limit: number, after: string | null) => Promise<Listed<V>>,
): Promise<Listed<V>> {
  const data: V[] = []
  for (let after: string | null = null; ;) {
    const items: Listed<V> = await page(Math.min(READ, limit - data.length), after)
    data.push(...items.data)
    const last = items.data.at(-1)
    if (!items.has_more || last === undefined || data.length >= limit)
      return { data, has_more: items.has_more }
    after = last.id
  }
}
