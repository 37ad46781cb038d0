/** What the bodies of administration must look like (JSON Schema). `validate.ts` says what the formats mean. */

/** Each is looked up, and its holding weighed, at every request that the key makes. */
const MAX_SEATS_OF_KEY = 1000
/** Both stand in memory, as sets, while the Seat is in use, and whoever looks at the Seat reads them all. */
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
