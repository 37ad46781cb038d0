/** What the bodies of administration must look like (JSON Schema). `validate.ts` says what the formats mean. */

const name = { type: 'string', format: 'name' }
const spaces = { type: 'array', items: { type: 'string', format: 'space' } }
const permissions = { type: 'array', items: { type: 'string', format: 'permission' } }

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
    seats: { type: 'array', items: name },
    expires_at: { type: 'string', nullable: true, format: 'expiry' },
  },
  required: ['name', 'seats'],
  additionalProperties: false,
}
