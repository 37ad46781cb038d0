/** Checks request bodies. A refusal lists each fault with its JSON Pointer. */

import type { ValueOf } from '../model/json-schema.ts'
import { type AdminRefusal, inputInvalid } from '../model/refusal.ts'
import type { ApiKeyInput } from '../store/store.ts'
import { parseDateTime } from './date-time.ts'
import { apiKeySchema, seatPatchSchema, seatSchema } from './schemas.ts'
import { checker } from './validate-body.ts'

export const seatBody = checker(seatSchema)
/** Any subset of a Seat's fields, also the empty one. */
export const seatPatchBody = checker(seatPatchSchema)
export const apiKeyBody = checker(apiKeySchema)

/** @param now ms since the epoch; `expires_at` must be later */
export function apiKeyInput(body: ValueOf<typeof apiKeySchema>, now: number): ApiKeyInput | AdminRefusal {
  const { name, seats, expires_at = null } = body
  const expiresAt = expires_at === null ? null : parseDateTime(expires_at)
  if (expiresAt !== null && expiresAt <= now) {
    return inputInvalid([{ path: '/expires_at', message: 'must be in the future' }])
  }
  return { name, seats, expiresAt }
}
