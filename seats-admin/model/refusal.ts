/** Why administration says no. A value, not an exception; the gateway gives each code its status. */

/** More faults of one input are not told. */
export const MAX_FAULTS = 50

export type AdminCode =
  | 'input_invalid'
  | 'seat_not_found'
  | 'api_key_not_found'
  | 'seat_name_taken'
  | 'grant_exceeds_own'
  | 'last_administrator'

export interface AdminFault {
  /** JSON Pointer (RFC 6901). */
  readonly path: string
  readonly message: string
}

/** `refused` tells it from a result, also after a structured clone between threads. */
export interface AdminRefusal {
  readonly refused: AdminCode
  readonly detail: string
  readonly faults?: readonly AdminFault[]
}

export function isRefusal(value: unknown): value is AdminRefusal {
  return typeof value === 'object' && value !== null && 'refused' in value
}

/** The same words for all of a kind, so that they tell nothing about what the caller may not see. */
export const seatNotFound: AdminRefusal = { refused: 'seat_not_found', detail: 'There is no such Seat.' }
export const apiKeyNotFound: AdminRefusal = {
  refused: 'api_key_not_found',
  detail: 'There is no such API key.',
}
export const seatNameTaken: AdminRefusal = {
  refused: 'seat_name_taken',
  detail: 'Another Seat of the tenant has this name.',
}
/** Also where a name is taken by a Seat that the caller may not see: the answer is the same as for any other reason. */
export const grantExceedsOwn: AdminRefusal = {
  refused: 'grant_exceeds_own',
  detail:
    'The Seats concerned must grant nothing that you do not hold in this space yourself. Outside the admin space they must grant it in this space alone, and a new name must be free in the tenant.',
}
export const lastAdministrator: AdminRefusal = {
  refused: 'last_administrator',
  detail:
    'No other Seat of the admin space holds *, or seats:update with seats:grant: the Seats of the tenant could not be managed any more.',
}

export function inputInvalid(faults: readonly AdminFault[]): AdminRefusal {
  return { refused: 'input_invalid', detail: 'The input is not valid: see errors.', faults }
}

/** @param indices of the API key's `seats` that name no Seat */
export function unknownSeats(indices: readonly number[]): AdminRefusal {
  return inputInvalid(
    indices.slice(0, MAX_FAULTS).map((at) => ({ path: `/seats/${at}`, message: 'names no Seat' })),
  )
}
