/** Validates request bodies. @returns typed input, or a refusal that lists each fault with its JSON Pointer */

import { type AdminRefusal, inputInvalid, isRefusal } from '../model/refusal.ts'
import type { SeatInput } from '../model/seat.ts'
import type { ApiKeyInput } from '../store/store.ts'
import { parseDateTime } from './date-time.ts'
import { apiKeySchema, seatPatchSchema, seatSchema } from './schemas.ts'
import { checker } from './validate.ts'

interface ApiKeyBody {
  readonly name: string
  readonly seats: readonly string[]
  readonly expires_at?: string | null
}

export const readSeatInput = checker<SeatInput>(seatSchema)
/** Any subset of a Seat's fields, also the empty one. */
export const readSeatPatch = checker<Partial<SeatInput>>(seatPatchSchema)
const apiKeyBody = checker<ApiKeyBody>(apiKeySchema)

/** @param now ms since the epoch; `expires_at` must be later */
export function readApiKeyInput(body: unknown, now: number): ApiKeyInput | AdminRefusal {
  const read = apiKeyBody(body)
  if (isRefusal(read)) return read
  const { name, seats, expires_at = null } = read
  const expiresAt = expires_at === null ? null : parseDateTime(expires_at)
  if (expiresAt !== null && expiresAt <= now) {
    return inputInvalid([{ path: '/expires_at', message: 'must be in the future' }])
  }
  return { name, seats, expiresAt }
}
