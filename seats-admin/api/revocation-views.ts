/** The JSON forms of revocations: what the endpoints answer, the store keeps and receipts sign. */

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
  time,
  type ValueOf,
} from '../model/json-schema.ts'
import { BLOCK_ORIGINS } from '../model/block.ts'
import {
  type ReachedInstance,
  type Revocation,
  type RevocationScope,
  sumOfOpen,
} from '../model/revocation.ts'
import { timeText } from '../store/audit-forms.ts'
import { ID } from './parameters.ts'
import { REVOCATION_STATES, type RevocationState, UNREACHED, type Unreached } from './revoking.ts'
import { warnings } from './warnings.ts'

export const SCOPES = ['existing', 'all'] as const

/** With those that only events of an identity provider have. */
const ANSWERED_SCOPES: readonly RevocationScope[] = [...SCOPES, 'tokens']

const subject = named(
  'RevocationSubject',
  'What is revoked: exactly one member.',
  object(
    {},
    {
      user: text('The `sub` of a user.', { examples: ['alice'] }),
      api_key: text('The id of an API key.'),
      session: text('The id of a sign-in session.'),
      issuer: text('The URL of an issuer of tokens.'),
      tenant: flag('The whole tenant: always true.'),
    },
  ),
)

const ended = object({
  sessions: count('Sign-in sessions that ended.'),
  api_keys: count('API keys that were revoked.'),
  websockets: count('WebSockets that were cut.'),
  streams: count('Responses that had begun and were cut.'),
  requests: count('Requests without a response that were cut.'),
})

const milliseconds: Schema<number> = {
  type: 'number',
  minimum: 0,
  description: 'Milliseconds from the commit until it decided by the change.',
}

const how = oneOf(
  ['acknowledged', 'lease_ended'],
  '`acknowledged`: it said that it decides by the change; `lease_ended`: it said nothing, and may decide nothing from memory since its lease ended.',
)

const cut = orNull(
  count(
    'WebSockets, streams and requests that it cut. Null if it did not say so within two seconds; an older version never does.',
  ),
)

const unreached = list(
  object(
    {
      what: oneOf(
        UNREACHED,
        '`signed_identity`: JWTs that upstreams have received; `decision_listener`: connections that another proxy holds after a decision; `forwarded_authorization`: upstreams that receive the `Authorization` of callers, and may use it elsewhere. Values may be added.',
      ),
    },
    { until: time('When it ends at the latest. Absent if that is not known.') },
  ),
  'What the gateway cannot reach.',
)

const kept = list(
  object({ api_key: text('The id of the API key.', ID) }),
  "The caller's own API key, which the revocation leaves in force. Absent if there is none.",
)

const optional = {
  origin: oneOf(
    BLOCK_ORIGINS,
    'The origin of the block of `all`. Absent if there is no block, or an administrator made it.',
  ),
  until: time('When the block of `all` ends. Absent if it lasts until it is deleted.'),
  api_keys: flag('Whether API keys are revoked too; absent otherwise.'),
  kept,
}

/** @param nullable what a preview does not have */
function schemaOf<I, S, T>(
  nullable: { readonly id: Schema<I>; readonly seq: Schema<S> },
  instance: Schema<T>,
  state: string,
) {
  return {
    ...nullable,
    at: time('What was issued up to this time is void: whole seconds of `iat` are compared.'),
    subject,
    what: oneOf(
      ANSWERED_SCOPES,
      '`existing`: what the subject has; `all`: that, and a block of the user; `tokens`: the tokens of the user, while sessions stay, and their Seats are mapped again. An event of the identity provider made the last one.',
    ),
    reason: orNull(text('The reason, for people to read. Null if none was given.')),
    state: oneOf(REVOCATION_STATES, state),
    ended,
    instances: list(instance, 'The gateways of the fleet that were reached.'),
    not_covered: unreached,
    receipt: orNull(
      text(
        'The answer as a compact JWS by the first key of `identity`. Null without `identity`, and if there was no answer.',
      ),
    ),
  }
}

const instanceFields = {
  id: text(
    'Random at each start of the gateway. `unknown` stands for all others, if the store could not list them.',
  ),
  name: text('Its host and pid.', { examples: ['gw-1 4711'] }),
}

/** An instance that a change has reached. */
export const reachedInstance = object({ ...instanceFields, how, ms: milliseconds, cut })

export function reachedForm(each: ReachedInstance) {
  const { id, name } = each
  return { id, name, how: each.how, ms: Math.round(each.ms * 1000) / 1000, cut: cutOf(each) }
}

const id = text('A ULID; ids sort in order of creation.', ID)
const seq = count('The number of its last change in the feed.')

export const revocation = named(
  'Revocation',
  'A revocation, as it was answered.',
  object(
    schemaOf(
      { id, seq },
      reachedInstance,
      '`closed`: no instance decides otherwise, and each has cut what was open; `partial`: an instance did not say so, or the gateway that made the revocation ended before it could answer.',
    ),
    optional,
  ),
)

export const createdRevocation = named(
  'CreatedRevocation',
  'A revocation that was just made, or the preview of one.',
  object(
    schemaOf(
      { id: orNull(id), seq: orNull(seq) },
      object({ ...instanceFields, how: orNull(how), ms: orNull(milliseconds), cut }),
      '`closed`: no instance decides otherwise, and each has cut what was open; `partial`: an instance did not say so. In a preview: whether each instance has counted what is open.',
    ),
    { ...optional, warnings },
  ),
)

export type RevocationAnswer = ValueOf<typeof revocation>
type RevocationPreview = ValueOf<typeof createdRevocation>

/** What an answer says of a revocation, whether it is made or previewed. */
type Terms = Pick<Revocation, 'subject' | 'what' | 'origin' | 'until' | 'reason' | 'apiKeys'>

/** @param at ms since the epoch */
function termsForm({ subject: of, what, origin, until, reason, apiKeys }: Terms, at: number) {
  return {
    at: timeText(at),
    subject: of,
    what,
    ...(origin === undefined ? {} : { origin }),
    ...(until === null ? {} : { until: timeText(until) }),
    ...(apiKeys ? { api_keys: true } : {}),
    reason,
  }
}

/** @param end ms since the epoch: the moment from which what is not reached lasts */
function unreachedForm(unreachedParts: readonly Unreached[], end: number) {
  return unreachedParts.map(({ what, lasts }) => ({
    what,
    ...(lasts === undefined ? {} : { until: timeText(end + lasts) }),
  }))
}

type Ended = Revocation['ended']

function endedForm({ sessions, apiKeys }: Ended, reached: readonly ReachedInstance[]) {
  return { sessions, api_keys: apiKeys, ...sumOfOpen(reached.flatMap((each) => each.cut ?? [])) }
}

function cutOf({ cut: counts }: ReachedInstance): number | null {
  return counts === null ? null : counts.websockets + counts.streams + counts.requests
}

/** Never `closed` by assumption: each instance has said so, in a version that knows revocations. */
function stateOf(reached: readonly ReachedInstance[]): RevocationState {
  const isClosed = ({ how: by, understands, cut: counts }: ReachedInstance) =>
    by === 'acknowledged' && understands && counts !== null
  return reached.length > 0 && reached.every(isClosed) ? 'closed' : 'partial'
}

/**
 * The answer to a revocation, without its receipt.
 *
 * @param now ms since the epoch, after all instances were reached
 */
export function answerForm(
  made: Revocation,
  reached: readonly ReachedInstance[],
  unreachedParts: readonly Unreached[],
  now: number,
) {
  return {
    id: made.id,
    seq: made.seq,
    ...termsForm(made, made.at),
    state: stateOf(reached),
    ended: endedForm(made.ended, reached),
    instances: reached.map(reachedForm),
    not_covered: unreachedForm(unreachedParts, Math.max(made.at, now)),
    ...(made.keptKey === null ? {} : { kept: [{ api_key: made.keptKey }] }),
  }
}

/**
 * A revocation without an answer: it is in force, and the gateway that made it has ended, or has not answered
 * yet. When its last instance was reached is not known, so nothing of it has an end.
 */
export function unansweredForm(made: Revocation, unreachedParts: readonly Unreached[]): RevocationAnswer {
  const unending = unreachedParts.map(({ what }) => ({ what }))
  return { ...answerForm(made, [], unending, made.at), receipt: null }
}

/**
 * What a revocation would end.
 *
 * @param now ms since the epoch
 */
export function previewForm(
  terms: Terms,
  counted: { readonly ended: Ended; readonly keptKey: string | null },
  reached: readonly ReachedInstance[],
  unreachedParts: readonly Unreached[],
  now: number,
): RevocationPreview {
  return {
    id: null,
    seq: null,
    ...termsForm(terms, now),
    state: stateOf(reached),
    ended: endedForm(counted.ended, reached),
    instances: reached.map((each) => ({ id: each.id, name: each.name, how: null, ms: null, cut: null })),
    not_covered: unreachedForm(unreachedParts, now),
    ...(counted.keptKey === null ? {} : { kept: [{ api_key: counted.keptKey }] }),
    receipt: null,
  }
}
