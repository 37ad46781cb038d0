/**
 * The JSON forms of Seats, API keys and sessions. The endpoints return different fields, so each has its own
 * form.
 */

import type { ApiKey } from '../model/api-key.ts'
import { type Block, BLOCK_ORIGINS } from '../model/block.ts'
import type { HeldGrant, ListedGrant } from '../model/grant.ts'
import {
  count,
  flag,
  list,
  named,
  object,
  oneOf,
  orNull,
  type Schema,
  text,
  textItem,
  time,
  type View,
  view,
} from '../model/json-schema.ts'
import type { ListedSeat, StoredSeat } from '../model/seat.ts'
import type { ListedSession } from '../model/session-record.ts'
import type { User } from '../model/user.ts'
import { apiKeyForm, blockForm, grantForm, seatForm, timeText } from '../store/audit-forms.ts'
import { ID } from './parameters.ts'
import { warnings } from './warnings.ts'

const id = text('A ULID; ids sort in order of creation.', ID)
const createdAt = time('When it was created.')
const createdBy = text('Who created it: the `sub` of the token, or the id of the API key.')

const seatFields = {
  id,
  name: text('Unique in the tenant.', { examples: ['Viewer'] }),
  spaces: list(textItem({ examples: ['main'] }), 'The spaces in which the permissions are granted.'),
  permissions: list(
    textItem({ examples: ['trainings:list'] }),
    'The permissions that the Seat grants in each of its spaces.',
  ),
}

export const createdSeat = view(
  named(
    'CreatedSeat',
    'A Seat that was just created.',
    object({ ...seatFields, created_by: createdBy, created_at: createdAt }, { warnings }),
  ),
  (made: StoredSeat) => {
    const { updated_at: _at, updated_by: _by, ...shown } = seatForm(made)
    return shown
  },
)

const readFields = {
  ...seatFields,
  created_by: createdBy,
  created_at: createdAt,
  updated_at: time('When it was last updated; equal to `created_at` before the first update.'),
}
const updatedBy = text('Who updated it last. Absent before the first update.')

export const seat = view(named('Seat', 'A Seat.', object(readFields, { updated_by: updatedBy })), seatForm)

export const updatedSeat = view(
  named(
    'UpdatedSeat',
    'A Seat that was just updated.',
    object(readFields, { updated_by: updatedBy, warnings }),
  ),
  seatForm,
)

export const listedSeat = view(
  named(
    'ListedSeat',
    'A Seat as it appears in lists.',
    object({
      ...seatFields,
      member_count: count(
        'Users whose latest sign-in or refresh carried the Seat. With `seats_from: scim`: active users in the group of its name, exactly.',
      ),
      member_count_exact: flag(
        'Whether `member_count` is that of now: `seats_from` of the tenant is `scim`. Otherwise, it is as of the latest sign-ins.',
      ),
      created_at: createdAt,
    }),
  ),
  ({ seat: listed, exact }: { readonly seat: ListedSeat; readonly exact: boolean }) => ({
    id: listed.id,
    name: listed.name,
    spaces: listed.spaces,
    permissions: listed.permissions,
    member_count: listed.memberCount,
    member_count_exact: exact,
    created_at: timeText(listed.createdAt),
  }),
)

const apiKeyFields = {
  id,
  name: text('The name that it was given.', { examples: ['nightly export'] }),
  seats: list(textItem({ examples: ['Viewer'] }), 'The current names of its Seats.'),
  created_by: createdBy,
  created_at: createdAt,
}
const apiKeyOptions = {
  owner: text('The `sub` of the user who owns it. Absent if it has no owner.', { examples: ['alice'] }),
  expires_at: time('When it expires. Absent if it never expires.'),
  revoked_at: time('When it was revoked. Absent if it is not revoked.'),
  last_used_at: time(
    'When a request was last authenticated by it, recorded with a delay of some minutes. Absent if no use is recorded.',
  ),
}

export const apiKey = view(
  named('ApiKey', 'An API key, without its text.', object(apiKeyFields, apiKeyOptions)),
  shownApiKey,
)

/** With the `sub` of the owner as tokens have it. */
function shownApiKey(key: ApiKey) {
  return {
    ...apiKeyForm(key),
    ...(key.owner === null ? {} : { owner: key.owner }),
    ...(key.lastUsedAt === null ? {} : { last_used_at: timeText(key.lastUsedAt) }),
  }
}

/** The only response with the key's text. */
export const createdApiKey = view(
  named(
    'CreatedApiKey',
    'An API key that was just created, with its text.',
    object(
      {
        ...apiKeyFields,
        key: text('The text of the key. No other response contains it.', { examples: ['sk_…'] }),
      },
      { ...apiKeyOptions, warnings },
    ),
  ),
  (made: ApiKey & { readonly key: string }) => ({ ...shownApiKey(made), key: made.key }),
)

const blockFields = {
  id,
  user: text('The `sub` of the user.', { examples: ['alice'] }),
  origin: oneOf(
    BLOCK_ORIGINS,
    'Who made it: `admin`, an administrator; `events`, an event of the identity provider; `scim`, its SCIM client. A user has at most one of each.',
  ),
  created_by: createdBy,
  created_at: createdAt,
}
const blockTerms = {
  until: time('When it ends. Absent if it lasts until it is deleted.'),
  reason: text('The reason, for people to read. Absent if none was given.', {
    examples: ['left the company'],
  }),
}

export const block = view(
  named('Block', 'A user whose every token and session is refused.', object(blockFields, blockTerms)),
  shownBlock,
)

export const createdBlock = view(
  named('CreatedBlock', 'A block that was just created.', object(blockFields, { ...blockTerms, warnings })),
  shownBlock,
)

/** With the `sub` as tokens have it. */
function shownBlock(stored: Block) {
  return { ...blockForm(stored), user: stored.user }
}

export const grant = view(
  named(
    'Grant',
    'A Seat that a user has besides, until a time.',
    object(
      {
        id,
        user: text('The `sub` of the user.', { examples: ['alice'] }),
        seat: text('The current name of the Seat.', { examples: ['Viewer'] }),
        seat_id: text('The id of the Seat, which the grant holds whatever its name.', ID),
        from: time('When it begins.'),
        until: time('When it ends.'),
        created_by: createdBy,
        created_at: createdAt,
      },
      {
        reason: text('The reason, for people to read. Absent if none was given.', {
          examples: ['on call'],
        }),
      },
    ),
  ),
  (stored: ListedGrant) => ({ ...grantForm(stored), user: stored.user, seat: stored.seatName }),
)

/** A grant in force in a list of users. */
export const heldGrant = view(
  named(
    'HeldGrant',
    'A grant in force, in lists of users.',
    object({
      id: text('The id of the grant.', ID),
      seat: text('The current name of the Seat.', { examples: ['Viewer'] }),
      until: time('When it ends.'),
    }),
  ),
  ({ id: grantId, seat: name, until }: HeldGrant) => ({ id: grantId, seat: name, until: timeText(until) }),
)

export const user = view(
  named(
    'User',
    'A user whom a sign-in, SCIM or a grant has made known.',
    object(
      {
        sub: text('The only field that identifies the user.', { examples: ['alice'] }),
        email: orNull(
          text('The email address at the latest sign-in, or the one that SCIM gave. Null if there is none.'),
        ),
        last_sign_in: orNull(
          time(
            'The latest sign-in or refresh. Null if it happened before this was recorded, or if there was none.',
          ),
        ),
        seats: list(
          textItem({ examples: ['Viewer'] }),
          'Names of the Seats of the latest sign-in; with `seats_from: scim`, of those that the groups give now.',
        ),
        blocked: flag('Whether a block is in force.'),
      },
      {
        grants: list(
          heldGrant.schema,
          'The grants in force, in the order of the names of their Seats. Absent if there are none.',
        ),
      },
    ),
  ),
  ({ sub, email, lastSignIn, seats, grants, blocked }: User & { readonly blocked: boolean }) => ({
    sub,
    email,
    last_sign_in: lastSignIn === null ? null : timeText(lastSignIn),
    seats,
    ...(grants === undefined ? {} : { grants: grants.map((each) => heldGrant(each)) }),
    blocked,
  }),
)

export const listedSession = view(
  named(
    'Session',
    'A sign-in session that has neither ended nor expired.',
    object(
      {
        id: text('The id of the session, which its tokens carry as `sid`.'),
        user: text('The `sub` of the user.', { examples: ['alice'] }),
        kind: oneOf(
          ['browser', 'program'],
          'What began it. A `browser` uses the session through its cookie.',
        ),
        expires_at: time('When it expires.'),
      },
      {
        email: text('The email address, for information. Absent if the provider did not give one.'),
        created_at: time('When it began. Absent if that was before this was recorded.'),
      },
    ),
  ),
  ({ id: session, user: sub, email, kind, createdAt: began, expiresAt }: ListedSession) => ({
    id: session,
    user: sub,
    ...(email === null ? {} : { email }),
    kind,
    ...(began === null ? {} : { created_at: timeText(began) }),
    expires_at: timeText(expiresAt),
  }),
)

interface Page<I> {
  readonly data: readonly I[]
  readonly hasMore: boolean
}

/** A page of items. */
export function listing<I, V>(item: View<I, V>, order = 'In order of creation.') {
  const schema = object({
    data: list(item.schema, order),
    has_more: flag('Whether more items follow.'),
    count: count('Number of items on the page.'),
  })
  return view(schema as Schema<PageOf<V>>, ({ data, hasMore }: Page<I>) => ({
    data: data.map((each) => item(each)),
    has_more: hasMore,
    count: data.length,
  }))
}

interface PageOf<V> {
  readonly data: readonly V[]
  readonly has_more: boolean
  readonly count: number
}
