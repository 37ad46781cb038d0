/** `GET /v1/decisions`: the newest decisions of a tenant on this instance, as a list or as events. */

import {
  type AdminEndpoint,
  endpoint,
  idOf,
  limitOf,
  limitParameter,
  someText,
} from '../../seats-admin/index.ts'
import type { EventSource } from '../../seats-admin/model/event-source.ts'
import {
  flag,
  list,
  named,
  object,
  orNull,
  text,
  textItem,
  time,
} from '../../seats-admin/model/json-schema.ts'
import { inputInvalid } from '../../seats-admin/model/refusal.ts'
import type {
  Activity,
  DecisionBatch,
  DecisionCode,
  DecisionFilter,
  RecentDecision,
} from '../model/activity.ts'
import { errors } from '../model/errors.ts'

const LIST = {
  code: {
    ...someText(
      'Only decisions with this code: `allow`, or the code of a refusal.',
      'must be allow, or the code of a refusal',
    ),
    accepts: (text: string) => text === 'allow' || Object.hasOwn(errors, text),
  },
  limit: limitParameter,
  after: idOf(
    'the last decision of the page before',
    'The id of the last decision on the previous page: the page has older ones.',
  ),
}

export const decision = named(
  'Decision',
  'A decision on a request of a known caller.',
  object({
    id: text('A ULID; ids sort by time.'),
    at: time('When it was made, by the clock of the gateway.'),
    code: text('`allow`, or why the request was refused.', { examples: ['permission_denied'] }),
    method: text('The method of the request.', { examples: ['GET'] }),
    path: text('The normalized path, without the query. At most its first 1,024 characters.'),
    route: orNull(
      text('The entry that matched. Null if none did, or if it is for callers of another tenant.', {
        examples: ['GET /v1/trainings/{id}'],
      }),
    ),
    permission: orNull(text('What the entry requires.')),
    space: orNull(text('The space of the request. Null if it had none, or if its credential was refused.')),
    user: orNull(
      text(
        'The `sub` of the user, or the id of the API key. At most its first 1,024 characters. Null if a refused credential does not name one.',
      ),
    ),
    seats: list(
      textItem({ examples: ['Viewer'] }),
      "Names of the caller's Seats in the space, at most 20. Empty where no Seat is needed.",
    ),
    request_id: text('Identifies the log line of the request.'),
  }),
)

const answer = object({
  data: list(decision, 'Newest first. The request itself is left out.'),
  has_more: flag('Whether more items follow.'),
})

const EVENTS =
  'With `Accept: text/event-stream`: the decisions from now on. `event: decision` has one as `data`; `event: lost` has `{"lost": n}`, the number of decisions that were left out because the client was slow.'

export function decisionsEndpoint({
  activity,
}: {
  readonly activity: Pick<Activity, 'decisions' | 'watch'>
}): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/decisions',
    permission: 'decisions:list',
    operation: 'listDecisions',
    summary: 'Lists the newest decisions on requests of the tenant, on this instance.',
    details: 'At most 1,000 in memory. With `Accept: text/event-stream`, the decisions from now on.',
    query: LIST,
    answers: { 200: answer },
    events: EVENTS,
    codes: [],
    async handle({ query, accept, caller: { tenant, scope, requestId } }) {
      // Outside the admin space the caller sees that space alone.
      const filter = {
        tenant,
        space: scope.admin ? null : scope.space,
        code: query.code as DecisionCode | null,
      }
      if (wantsEvents(accept)) return streamed(query, filter, activity)
      const limit = limitOf(query)
      const question = { ...filter, limit: limit + 1, before: query.after, requestId }
      const decisions = await activity.decisions(question)
      const data = decisions.slice(0, limit).map(viewOf)
      return { status: 200, body: { data, has_more: decisions.length > limit } }
    },
  })
}

function streamed(
  query: { readonly limit: string | null; readonly after: string | null },
  filter: DecisionFilter,
  activity: Pick<Activity, 'watch'>,
) {
  const faults = (['limit', 'after'] as const)
    .filter((name) => query[name] !== null)
    .map((name) => ({ path: `/${name}`, message: 'is for lists: a stream of events has no pages' }))
  if (faults.length > 0) return inputInvalid(faults)
  const events: EventSource = async (sink) => {
    const watch = await activity.watch(filter, (batch) => sink.write(textOf(batch)))
    return { resumed: () => watch.resume(), closed: () => watch.close() }
  }
  return { status: 200, events } as const
}

/** The batch as server-sent events (WHATWG HTML, section 9.2.6). JSON has no line ends. */
function textOf({ decisions, lost }: DecisionBatch): string {
  const events = decisions.map((each) => `event: decision\ndata: ${JSON.stringify(viewOf(each))}\n\n`)
  if (lost > 0) events.push(`event: lost\ndata: {"lost":${lost}}\n\n`)
  return events.join('')
}

function viewOf({ at, requestId, ...rest }: RecentDecision) {
  const { id, code, method, path, route, permission, space, user, seats } = rest
  const time = new Date(at).toISOString()
  return { id, at: time, code, method, path, route, permission, space, user, seats, request_id: requestId }
}

/** The most media ranges that are examined. */
const MAX_RANGES = 64
const RANGE = /^\s*(text\/event-stream|application\/json)\s*(?:;(.*))?$/i
const WEIGHT = /;?\s*q\s*=\s*([01](?:\.[0-9]{0,3})?)\s*$/i

/** Whether the client prefers events, or likes them as much as JSON (RFC 9110, section 12.5.1). */
function wantsEvents(accept: readonly string[]): boolean {
  const weights = { 'text/event-stream': 0, 'application/json': 0 }
  for (const range of accept.join(',').split(',', MAX_RANGES)) {
    const [, type, parameters = ''] = RANGE.exec(range) ?? []
    if (type === undefined) continue
    const name = type.toLowerCase() as keyof typeof weights
    weights[name] = Math.max(weights[name], Number(WEIGHT.exec(parameters)?.[1] ?? 1))
  }
  return weights['text/event-stream'] > 0 && weights['text/event-stream'] >= weights['application/json']
}
