/** The names in all requests of the bench. */

export const TENANT = 'acme'
export const SPACE = 's1'
export const PERMISSION = 'trainings:list'
/** Permissions of every Seat; the routes use them in turn. */
export const PERMISSIONS = [PERMISSION, 'trainings:read', 'files:read'] as const
/** The number of Seats. Each has a name of its own, and one user. */
export const SEATS = 5000

export function seatName(number: number): string {
  return `Role ${number}`
}

/** The path of one of the many entries of Seatgate's route table. */
export function routePath(number: number): string {
  return `/v1/service${number % 100}/thing${number}`
}

const WRITES = ['POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Every tenth entry of Seatgate's route table is a write, to the path of the entry before it. */
export function routeEntry(number: number): { readonly method: string; readonly path: string } {
  if (number % 10 !== 9) return { method: 'GET', path: routePath(number) }
  return { method: WRITES[Math.floor(number / 10) % WRITES.length] ?? 'POST', path: routePath(number - 1) }
}
