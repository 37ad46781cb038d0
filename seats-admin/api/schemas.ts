/** JSON Schemas of the request bodies. `formats.ts` defines the formats. */

import { flag, list, mapOf, orNull, strictObject, text, textItem } from '../model/json-schema.ts'

/** Every request with the key looks up each of its Seats. */
const MAX_SEATS_OF_KEY = 1000
/** Both are in memory as sets while the Seat is in use, and each read of the Seat transfers them. */
const MAX_SPACES = 10_000
const MAX_PERMISSIONS = 10_000

const fieldsOfSeat = {
  name: text('Unique in the tenant.', { format: 'name', examples: ['Viewer'] }),
  spaces: list(
    textItem({ format: 'space', examples: ['main'] }),
    'The spaces in which the permissions are granted.',
    {
      maxItems: MAX_SPACES,
    },
  ),
  permissions: list(
    textItem({ format: 'permission', examples: ['trainings:list'] }),
    'The permissions that the Seat grants in each of its spaces.',
    { maxItems: MAX_PERMISSIONS },
  ),
}

export const seatSchema = strictObject(fieldsOfSeat)

/** A Seat of a file, under its name. */
export const seatOfFileSchema = strictObject(
  { spaces: fieldsOfSeat.spaces, permissions: fieldsOfSeat.permissions },
  { was: text('The former name of the Seat, to rename it.', { format: 'name', examples: ['Reader'] }) },
)

/** Of a file of Seats. Its description has the number in words: Intl would take 25 ms of each start. */
const MAX_SEATS = 10_000

const fieldsOfFile = {
  tenant: text('The tenant of the Seats. The request is refused if the caller belongs to another tenant.', {
    examples: ['acme'],
  }),
  prune: flag('Deletes the Seats that the caller may see and that `seats` does not list.'),
}

/** Names have the format of names of Seats. */
const seatsOfFile = mapOf(
  seatOfFileSchema,
  'Seats by name, at most 10,000, each with `spaces`, `permissions` and, to rename it, `was`.',
  {
    maxProperties: MAX_SEATS,
  },
)

/** Of one plan. */
const MAX_ENDED = 1000

export const planSchema = strictObject(
  { seats: seatsOfFile },
  {
    ...fieldsOfFile,
    revoke: list(
      textItem({ examples: ['01KAJ0Z1V5Q8T2C0W7M3E9R4XD'] }),
      'Ids of API keys that are to be revoked as well. They only affect the warning `nobody_administers`.',
      { maxItems: MAX_ENDED },
    ),
    block: list(
      textItem({ examples: ['alice'] }),
      'The `sub` of each user who is to be blocked as well. They only affect the warning `nobody_administers`.',
      { maxItems: MAX_ENDED },
    ),
  },
)

export const applySchema = strictObject(
  { seats: seatsOfFile },
  {
    ...fieldsOfFile,
    versions: mapOf(
      orNull(textItem({ examples: ['"3-d41d8cd98f00"'] })),
      'The `versions` that a plan returned: nothing is written unless exactly the changes of that plan are due, at these versions.',
    ),
  },
)

export const seatPatchSchema = strictObject({}, fieldsOfSeat)

export const apiKeySchema = strictObject(
  {
    name: text('It does not have to be unique.', { format: 'name', examples: ['nightly export'] }),
    seats: list(textItem({ format: 'name', examples: ['Viewer'] }), 'Names of existing Seats.', {
      maxItems: MAX_SEATS_OF_KEY,
    }),
  },
  {
    expires_at: orNull(
      text('When the key expires. If it is absent or null, the key never expires.', {
        format: 'expiry',
        examples: ['2099-01-01T00:00:00Z'],
      }),
    ),
  },
)

/** The characters of a token: whatever a token names can be blocked. */
const MAX_USER = 16 * 1024

export const blockSchema = strictObject(
  {
    user: text('The `sub` of the user.', {
      minLength: 1,
      maxLength: MAX_USER,
      format: 'well-formed',
      examples: ['alice'],
    }),
  },
  {
    until: orNull(
      text('When the block ends. If it is absent or null, the block lasts until it is deleted.', {
        format: 'expiry',
        examples: ['2099-01-01T00:00:00Z'],
      }),
    ),
    reason: orNull(
      text('The reason, for people to read.', {
        maxLength: 1024,
        format: 'well-formed',
        examples: ['left the company'],
      }),
    ),
  },
)
