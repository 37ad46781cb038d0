/** JSON Schemas of the request bodies. `validate.ts` defines the formats. */

/** Every request with the key looks up each of its Seats. */
const MAX_SEATS_OF_KEY = 1000
/** Both are in memory as sets while the Seat is in use, and each read of the Seat transfers them. */
const MAX_SPACES = 10_000
const MAX_PERMISSIONS = 10_000

const name = { type: 'string', format: 'name' }
const spaces = { type: 'array', maxItems: MAX_SPACES, items: { type: 'string', format: 'space' } }
const permissions = {
  type: 'array',
  maxItems: MAX_PERMISSIONS,
  items: { type: 'string', format: 'permission' },
}

export const seatPatchSchema = {
  type: 'object',
  properties: { name, spaces, permissions },
  additionalProperties: false,
}

export const seatSchema = { ...seatPatchSchema, required: ['name', 'spaces', 'permissions'] }

export const apiKeySchema = {
  type: 'object',
  properties: {
    name,
    seats: { type: 'array', maxItems: MAX_SEATS_OF_KEY, items: name },
    expires_at: { type: 'string', nullable: true, format: 'expiry' },
  },
  required: ['name', 'seats'],
  additionalProperties: false,
}
