/** The parameters of the list endpoints: `limit` and `after`. */

import { idOf, type Values, wholeNumber } from './parameters.ts'

const DEFAULT_LIMIT = 20

export const limitParameter = wholeNumber('Maximum number of items on the page.', {
  minimum: 1,
  maximum: 100,
  default: DEFAULT_LIMIT,
})

export const afterId = idOf(
  'the last item before the page',
  'The id of the last item on the previous page; the item may have been deleted since.',
)

export const PAGE = { limit: limitParameter, after: afterId }

export function limitOf({ limit }: { readonly limit: string | null }): number {
  return limit === null ? DEFAULT_LIMIT : Number(limit)
}

export function pageOf(query: Values<typeof PAGE>): { limit: number; after: string | null } {
  return { limit: limitOf(query), after: query.after }
}
