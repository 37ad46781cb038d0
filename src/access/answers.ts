/** What `GET /v1/access/who-can` and `GET /v1/access/can` answer. */

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
} from '../../seats-admin/model/json-schema.ts'

const id = text('The id.')
const seatNames = list(textItem({ examples: ['Viewer'] }), 'Names of the Seats that grant it.')
const hasMore = flag('Whether more items follow.')

const grantingSeat = named(
  'GrantingSeat',
  'A Seat that grants the permission.',
  object({
    id,
    name: text('Its name.', { examples: ['Viewer'] }),
    spaces: list(textItem({ examples: ['main'] }), 'Those in which it grants the permission.'),
    by: oneOf(['permission', '*'], 'Whether it holds the permission itself, or every one.'),
  }),
)

const grantedApiKey = named(
  'GrantedApiKey',
  'An API key with such a Seat, neither expired nor revoked.',
  object({
    id,
    name: text('Its name.', { examples: ['nightly export'] }),
    expires_at: orNull(time('Null: never.')),
    last_used_at: orNull(time('Null: not known.')),
    seats: seatNames,
  }),
)

const grantedUser = named(
  'GrantedUser',
  'A user whose latest sign-in carried such a Seat.',
  object({
    sub: text('Alone identifies the user.', { examples: ['alice'] }),
    email: orNull(text('Null: not known.')),
    last_sign_in: orNull(time('Null: from before sign-ins were recorded.')),
    seats: seatNames,
    blocked: flag('Whether a block is in force: the user is refused all the same.'),
  }),
)

const HOST_OPTION = {
  host: text('The hosts of its table, joined by commas. Left out: those that no table names.'),
}

export const whoCanAnswer = object(
  {
    method: orNull(text('As asked. Null: the question is about a permission.')),
    path: orNull(text('Normalised, without the query.')),
    route: orNull(text('The entry that answers the request. Null: none does.')),
    permission: orNull(
      text('What the entry requires, also `authenticated` and `public`. Null: no entry answers.'),
    ),
    tenant: text('The tenant.', { examples: ['acme'] }),
    space: orNull(text('As asked. Null: any.')),
    seats: list(grantingSeat, 'In order of creation.'),
    api_keys: list(grantedApiKey, 'In order of creation, behind all Seats.'),
    users: list(grantedUser, 'In the order of `sub`, behind all API keys.'),
    has_more: hasMore,
  },
  { host: text('As asked, in lower case and without a port. Left out: none was named.') },
)

const accessRow = named(
  'AccessRow',
  'A route, in one space.',
  object(
    {
      method: text('The method of the entry.', { examples: ['GET'] }),
      path: text('The pattern of the entry.', { examples: ['/v1/trainings'] }),
      permission: text('What the entry requires.', { examples: ['trainings:list'] }),
      upstream: text('Where it leads; `seatgate` for a built-in endpoint.'),
      space: orNull(text('Null: no Seat is needed.')),
      seat: orNull(text('The name of the first Seat that grants it. Null: none is needed.')),
    },
    HOST_OPTION,
  ),
)

export const canAnswer = object({
  data: list(accessRow, 'In the order of the tables, and of the spaces.'),
  has_more: hasMore,
})
