/** Who and what the requests of the bench are about. Used by all that makes or checks them. */

export const TENANT = 'acme'
export const SPACE = 's1'
export const PERMISSION = 'trainings:list'
/** Each of its own name, and one user of each. */
export const SEATS = 5000

export function seatName(number: number): string {
  return `Role ${number}`
}

/** Of one of the many entries of Seatgate's route table. */
export function routePath(number: number): string {
  return `/v1/service${number % 100}/thing${number}`
}
