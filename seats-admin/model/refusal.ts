/** Refusals of administration, returned as values. The gateway maps each code to a status. */

/** Limit of reported faults of one input. */
export const MAX_FAULTS = 50

export type AdminCode =
  | 'input_invalid'
  | 'seat_not_found'
  | 'api_key_not_found'
  | 'block_not_found'
  | 'user_not_found'
  | 'session_not_found'
  | 'revocation_not_found'
  | 'grant_not_found'
  | 'scim_not_configured'
  | 'seat_name_taken'
  | 'grant_exceeds_own'
  | 'permission_denied'
  | 'last_administrator'
  | 'tables_refused'
  | 'tables_in_files'
  | 'tables_refused'
  | 'tables_not_found'
  | 'precondition_required'
  | 'precondition_failed'
  | 'unavailable'

/** A JSON Pointer (RFC 6901), which locates a fault: to a member or item of `parent`. */
export function pointerTo(parent: string, name: string): string {
  return `${parent}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
}

/** The parts of a JSON Pointer. */
export function pointerParts(pointer: string): string[] {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
}

export interface AdminFault {
  /** JSON Pointer (RFC 6901). */
  readonly path: string
  readonly message: string
}

/** `refused` distinguishes it from a result, also after a structured clone between threads. */
export interface AdminRefusal {
  readonly refused: AdminCode
  readonly detail: string
  readonly faults?: readonly AdminFault[]
  /** Further members of the problem document. */
  readonly members?: Readonly<Record<string, unknown>>
}

export function isRefusal(value: unknown): value is AdminRefusal {
  return typeof value === 'object' && value !== null && 'refused' in value
}

/** The same text in all cases, so that it reveals nothing about what the caller may not see. */
export const seatNotFound: AdminRefusal = { refused: 'seat_not_found', detail: 'The Seat does not exist.' }
export const apiKeyNotFound: AdminRefusal = {
  refused: 'api_key_not_found',
  detail: 'The API key does not exist.',
}
export const blockNotFound: AdminRefusal = { refused: 'block_not_found', detail: 'The block does not exist.' }
export const userNotFound: AdminRefusal = {
  refused: 'user_not_found',
  detail: 'No sign-in of this user is known.',
}
export const sessionNotFound: AdminRefusal = {
  refused: 'session_not_found',
  detail: 'The session does not exist.',
}
export const revocationNotFound: AdminRefusal = {
  refused: 'revocation_not_found',
  detail: 'The revocation does not exist.',
}
export const grantNotFound: AdminRefusal = { refused: 'grant_not_found', detail: 'The grant does not exist.' }
export const scimNotConfigured: AdminRefusal = {
  refused: 'scim_not_configured',
  detail: 'The configuration of the tenant has no scim.',
}
export const seatNameTaken: AdminRefusal = {
  refused: 'seat_name_taken',
  detail: 'Another Seat of the tenant has this name.',
}
/**
 * Also for a name taken by a Seat that the caller may not see, so that the response does not reveal the Seat.
 */
export const grantExceedsOwn: AdminRefusal = {
  refused: 'grant_exceeds_own',
  detail:
    'You may manage only Seats whose permissions you hold in this space yourself. Outside the admin space such a Seat must have this space only, and a new name must be unused in the tenant. What you hold by a grant with an end you may pass on until that end.',
}
/** The refusal of one request that makes several changes. */
export function permissionDenied(permission: string): AdminRefusal {
  return {
    refused: 'permission_denied',
    detail: `None of the caller's Seats in this space holds ${permission}.`,
  }
}

export const lastAdministrator: AdminRefusal = {
  refused: 'last_administrator',
  detail:
    'No other Seat of the admin space has *, or seats:update and seats:grant: the Seats of the tenant would become unmanageable.',
}

export const preconditionFailed: AdminRefusal = {
  refused: 'precondition_failed',
  detail: 'If-Match names another version: it was changed since you read it. Read it again.',
}

export function inputInvalid(faults: readonly AdminFault[]): AdminRefusal {
  return { refused: 'input_invalid', detail: 'The input is not valid: errors lists its faults.', faults }
}

/** @param indices positions of unknown names in the API key's `seats` */
export function unknownSeats(indices: readonly number[]): AdminRefusal {
  return inputInvalid(
    indices
      .slice(0, MAX_FAULTS)
      .map((at) => ({ path: `/seats/${at}`, message: 'is not the name of a Seat' })),
  )
}
