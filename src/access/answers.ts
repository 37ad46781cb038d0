/** The answers of `GET /v1/access/who-can` and `GET /v1/access/can`. */

import {
  flag,
  list,
  named,
  object,
  oneOf,
  orNull,
  text,
  textItem,
  time,
  type ValueOf,
} from '../../seats-admin/model/json-schema.ts'
import { heldGrantView } from '../../seats-admin/index.ts'

const id = text('The id.')
const seatNames = list(textItem({ examples: ['Viewer'] }), 'Names of the Seats that grant it.')
const hasMore = flag('Whether more items follow.')

const grantingSeat = named(
  'GrantingSeat',
  'A Seat that grants the permission.',
  object({
    id,
    name: text('Its name.', { examples: ['Viewer'] }),
    spaces: list(textItem({ examples: ['main'] }), 'The spaces in which it grants the permission.'),
    by: oneOf(['permission', '*'], 'Whether it holds the permission itself, or `*`.'),
  }),
)

const grantedApiKey = named(
  'GrantedApiKey',
  'An API key that holds such a Seat and is neither expired nor revoked, and whose owner is not blocked.',
  object({
    id,
    name: text('Its name.', { examples: ['nightly export'] }),
    owner: orNull(text('The `sub` of the user who owns it. Null if it has no owner.')),
    expires_at: orNull(time('When it expires. Null if it never expires.')),
    last_used_at: orNull(
      time(
        'When a request was last authenticated by it, recorded with a delay of some minutes. Null if no use is recorded.',
      ),
    ),
    seats: seatNames,
  }),
)

const grantedUser = named(
  'GrantedUser',
  'A user who has such a Seat, by the latest sign-in or by a grant.',
  object(
    {
      sub: text('The only field that identifies the user.', { examples: ['alice'] }),
      email: orNull(text('The email address. Null if it is not known.')),
      last_sign_in: orNull(
        time(
          'The latest sign-in or refresh. Null if it happened before sign-ins were recorded, or if there was none.',
        ),
      ),
      seats: seatNames,
      blocked: flag('Whether a block is in force. The user is then refused despite the Seat.'),
    },
    {
      grants: list(
        heldGrantView.schema,
        'The grants in force by which the user has such Seats, besides those of the latest sign-in: these Seats end. Absent if there are none.',
      ),
    },
  ),
)

export type GrantingSeatView = ValueOf<typeof grantingSeat>
export type GrantedKeyView = ValueOf<typeof grantedApiKey>
export type GrantedUserView = ValueOf<typeof grantedUser>

export const whoCanAnswer = object(
  {
    method: orNull(text('The requested method. Null if the question is about a permission.')),
    path: orNull(text('The normalized path, without the query. Null if the question is about a permission.')),
    route: orNull(text('The entry that answers the request. Null if there is none.')),
    permission: orNull(
      text(
        'The requested permission, or what the entry requires, including `authenticated` and `public`. Null if no entry answers.',
      ),
    ),
    tenant: text('The tenant.', { examples: ['acme'] }),
    space: orNull(text('The requested space. Null if the question is about any space.')),
    seats: list(grantingSeat, 'In order of creation.'),
    api_keys: list(grantedApiKey, 'In order of creation, after all Seats.'),
    users: list(grantedUser, 'In the order of `sub`, after all API keys.'),
    exact: flag(
      'Whether `users` are those who have such a Seat now: `seats_from` of the tenant is `scim`, by `externalId` or `userName`. Otherwise, they have the Seats of their latest sign-in, or with a claim as `scim.user`, those who have not signed in are not known. Tokens of other issuers are never known.',
    ),
    has_more: hasMore,
  },
  { host: text('The requested host, in lower case and without a port. Absent if none was given.') },
)

const accessRow = named(
  'AccessRow',
  'A route in one space.',
  object(
    {
      method: text('The method of the entry.', { examples: ['GET'] }),
      path: text('The pattern of the entry.', { examples: ['/v1/trainings'] }),
      permission: text('What the entry requires.', { examples: ['trainings:list'] }),
      upstream: text('The upstream that the entry leads to; `seatgate` for a built-in endpoint.'),
      space: orNull(text('The space. Null if no Seat is needed.')),
      seat: orNull(text('The name of the first Seat that grants it. Null if none is needed.')),
    },
    {
      host: text('The hosts of its table, joined by commas. Absent for the hosts that no table lists.'),
      until: time(
        'When the last grant ends by which the user has the Seat. Absent if the holder has a Seat that grants it and does not end.',
      ),
    },
  ),
)

/** A row. Among routes that are not allowed, it has no Seat, and no space if the holder has none at all. */
export type AccessRow = ValueOf<typeof accessRow>

export const canAnswer = object({
  data: list(accessRow, 'In the order of the tables, then of the spaces.'),
  exact: flag(
    'Whether the holder has these Seats now: true for Seats and API keys, and for users if `seats_from` of the tenant is `scim`. Otherwise, a user has those of the latest sign-in.',
  ),
  has_more: hasMore,
})
