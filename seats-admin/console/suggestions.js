/** What exists, to complete what is typed. Nothing where the user may not read it. */

import { readList, useLoaded } from './loading.js'

/** Seats, or routes, that are read for it. */
const ENOUGH = 2000

/** @param {{ readonly length: number }} items */
const isEnough = ({ length }) => length >= ENOUGH

/** @returns {readonly import('./answers.d.ts').ListedSeat[]} */
export function useKnownSeats() {
  const { value } = useLoaded(async (signal) => {
    const { items } = await readList('/v1/seats', { isEnough, signal })
    return items
  }, [])
  return value ?? []
}

/** @param {readonly { readonly spaces: readonly string[] }[]} seats */
export function spacesOf(seats) {
  return [...new Set(seats.flatMap(({ spaces }) => spaces))].sort()
}

/** The permissions that routes require. @returns {readonly string[]} */
export function useRoutePermissions() {
  const { value } = useLoaded(async (signal) => {
    const { items } = await readList('/v1/routes', {
      idOf: ({ method, path }) => `${method} ${path}`,
      isEnough,
      signal,
    })
    const permissions = items.map(({ permission }) => permission).filter((each) => each.includes(':'))
    return [...new Set(permissions)].sort()
  }, [])
  return value ?? []
}
