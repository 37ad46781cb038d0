/** `/v1/revocations`: what a subject was given up to now is void, what it is given later passes. */

import { committedOf } from '../model/change.ts'
import {
  flag,
  oneOf,
  orNull,
  type Schema,
  strictObject,
  text,
  type ValueOf,
  view,
} from '../model/json-schema.ts'
import {
  type AdminFault,
  type AdminRefusal,
  inputInvalid,
  isRefusal,
  permissionDenied,
  revocationNotFound,
} from '../model/refusal.ts'
import type { RevocationSubject } from '../model/revocation.ts'
import type { RevocationInput, StoredRevocation } from '../store/revocation-store.ts'
import { type AdminDeps, type AdminEndpoint, type Caller, endpoint, writerOf } from './admin-endpoint.ts'
import { parseDateTime } from './date-time.ts'
import { ID, PAGE, pageOf, SUB } from './parameters.ts'
import { answerRevocation } from './revocation-answer.ts'
import {
  createdRevocation,
  previewForm,
  revocation,
  type RevocationAnswer,
  SCOPES,
  unansweredForm,
} from './revocation-views.ts'
import { checker } from './validate-body.ts'
import { listing } from './views.ts'
import { administrationWarnings, warningsAfter, withWarnings } from './warnings.ts'

const always: Schema<true> = { type: 'boolean', enum: [true], description: 'The whole tenant.' }

const subject = {
  ...strictObject(
    {},
    {
      user: text('The `sub` of a user, who need not have signed in.', SUB),
      api_key: text('The id of an API key.'),
      session: text('The id of a sign-in session.'),
      issuer: text('The URL of an issuer of tokens, as `issuers` of the tenant has it.'),
      tenant: always,
    },
  ),
  minProperties: 1,
  maxProperties: 1,
  description: 'What is revoked: exactly one member.',
}

const revocationSchema = strictObject(
  { subject },
  {
    what: oneOf(
      SCOPES,
      '`existing`, the default: sessions and refresh tokens, tokens that were issued until now, and API keys that the user owns; `all`: that, and a block of the user.',
    ),
    until: orNull(
      text('When the block of `all` ends. If it is absent or null, the block lasts until it is deleted.', {
        format: 'expiry',
        examples: ['2099-01-01T00:00:00Z'],
      }),
    ),
    api_keys: flag(
      'With `tenant` alone: whether API keys are revoked too. The own key of the caller stays in force.',
    ),
    reason: orNull(
      text('The reason, for people to read.', {
        maxLength: 1024,
        format: 'well-formed',
        examples: ['stolen laptop'],
      }),
    ),
    dry_run: flag('Whether nothing is revoked: the answer says what would end.'),
  },
)

const revocationBody = checker(revocationSchema)

const SUBJECTS = /^(?:(user|api_key|session|issuer):([^]+)|tenant)$/

const LIST = {
  ...PAGE,
  subject: {
    schema: text('`user:SUB`, `api_key:ID`, `session:ID`, `issuer:URL` or `tenant`.', {
      pattern: '^(?:(?:user|api_key|session|issuer):[^]+|tenant)$',
      examples: ['user:alice'],
    }),
    accepts: (value: string) => SUBJECTS.test(value),
    otherwise: 'must be user:SUB, api_key:ID, session:ID, issuer:URL or tenant',
  },
}

const params = { id: text('The id of the revocation.', ID) }
const revocations = listing(view(revocation, (answer: RevocationAnswer) => answer))

/** A revocation concerns the tenant: outside the admin space none can be seen or made. */
export function revocationEndpoints(deps: AdminDeps): AdminEndpoint[] {
  return [createRevocation, listRevocations, readRevocation].map((each) => each(deps))
}

function createRevocation(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'POST',
    path: '/v1/revocations',
    permission: 'revocations:create',
    operation: 'createRevocation',
    summary: 'Voids everything that a subject was given up to now, and cuts what is open.',
    details:
      'In the admin space alone. What is issued later is accepted. The answer comes when no instance decides otherwise, and names those that did not say what they cut within two seconds. A 503 leaves it open whether it was made: the list says so, and to repeat it does no harm.',
    body: revocationBody,
    answers: { 200: createdRevocation },
    codes: ['api_key_not_found', 'session_not_found', 'unavailable'],
    async handle({ body, caller }) {
      const input = inputOf(body, deps.now())
      if (isRefusal(input)) return input
      if (!caller.scope.admin) return onlyAdminSpace
      const issuers = deps.revoking.issuers(caller.tenant)
      if ('issuer' in input.subject && !issuers.includes(input.subject.issuer)) return otherIssuer(issuers)
      return body.dry_run === true ? preview(deps, caller, input) : revoke(deps, caller, input)
    },
  })
}

/** The issuers that a refusal names. */
const MOST_ISSUERS = 5

/** A URL is compared as text: one `/` more is another issuer. */
function otherIssuer(issuers: readonly string[]): AdminRefusal {
  const more = issuers.length - MOST_ISSUERS
  const known = issuers.slice(0, MOST_ISSUERS).join(', ') + (more > 0 ? ` and ${more} more` : '')
  const which = issuers.length === 0 ? 'it has none' : `it has ${known}`
  return inputInvalid([{ path: '/subject/issuer', message: `is not an issuer of the tenant: ${which}` }])
}

async function revoke(deps: AdminDeps, caller: Caller, input: RevocationInput) {
  const written = await deps.store.revoke(writerOf(caller, deps), input)
  if (isRefusal(written)) return written
  const [answer, warnings] = await Promise.all([
    answerRevocation(deps, written),
    warningsAfter(caller, deps, written),
  ])
  return { status: 200, body: withWarnings(answer, warnings) } as const
}

async function preview(deps: AdminDeps, caller: Caller, input: RevocationInput) {
  const { store, revoking, now } = deps
  const counted = await store.countRevocation(writerOf(caller, deps), input)
  if (isRefusal(counted)) return counted
  const reached = await revoking.revoke(committedOf(counted.committed))
  const unreached = revoking.unreached(caller.tenant, input.subject)
  const answer = previewForm(input, counted, reached, unreached, now())
  const warnings = await administrationWarnings(caller, deps, {
    revoked: counted.keys,
    blocked: input.what === 'all' && 'user' in input.subject ? [input.subject.user] : [],
  })
  return { status: 200, body: withWarnings(answer, warnings) } as const
}

function listRevocations(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/revocations',
    permission: 'revocations:list',
    operation: 'listRevocations',
    summary: 'Lists the revocations.',
    details: 'Only in the admin space; in other spaces the list is empty.',
    query: LIST,
    answers: { 200: revocations.schema },
    codes: [],
    async handle({ query, caller: { tenant, scope } }) {
      const wanted = { ...pageOf(query), subject: subjectOfText(query.subject) }
      const { data, hasMore } = scope.admin ? await deps.store.listRevocations(tenant, wanted) : NOTHING
      return { status: 200, body: revocations({ data: data.map((each) => shown(each, deps)), hasMore }) }
    },
  })
}

function readRevocation(deps: AdminDeps): AdminEndpoint {
  return endpoint({
    method: 'GET',
    path: '/v1/revocations/{id}',
    permission: 'revocations:list',
    operation: 'readRevocation',
    summary: 'Reads a revocation as it was answered.',
    details:
      'It never changes, whatever becomes of the instances. Without an answer, because the gateway that made it has ended or is still at it, `instances` is empty and `state` is `partial`.',
    params,
    answers: { 200: revocation },
    codes: ['revocation_not_found'],
    async handle({ params: { id }, caller: { tenant, scope } }) {
      const stored = scope.admin ? await deps.store.revocationById(tenant, id) : null
      return stored === null ? revocationNotFound : { status: 200, body: shown(stored, deps) }
    },
  })
}

const NOTHING = { data: [], hasMore: false }

const onlyAdminSpace: AdminRefusal = {
  ...permissionDenied('revocations:create'),
  detail: 'A revocation concerns the whole tenant: it can be made in the admin space alone.',
}

/** As it was answered. */
function shown(stored: StoredRevocation, { revoking }: AdminDeps): RevocationAnswer {
  if (stored.answer !== null) return JSON.parse(stored.answer)
  return unansweredForm(stored, revoking.unreached(stored.tenant, stored.subject))
}

/** @param now ms since the epoch; `until` must be later */
function inputOf(body: ValueOf<typeof revocationSchema>, now: number): RevocationInput | AdminRefusal {
  const { what = 'existing', until: end = null, api_keys: apiKeys, reason = null } = body
  const subject = subjectOf(body.subject)
  const until = end === null ? null : parseDateTime(end)
  const faults: AdminFault[] = []
  if (what === 'all' && !('user' in subject))
    faults.push({
      path: '/what',
      message: 'must be existing: all is for a user, as only users can be blocked',
    })
  if (until !== null && what !== 'all')
    faults.push({ path: '/until', message: 'is the end of the block, which needs "what": "all"' })
  else if (until !== null && until <= now) faults.push({ path: '/until', message: 'must be in the future' })
  // Also if it is false: the API keys that a user owns would be revoked nevertheless.
  if (apiKeys !== undefined && !('tenant' in subject))
    faults.push({ path: '/api_keys', message: 'is only for "subject": {"tenant": true}' })
  if (faults.length > 0) return inputInvalid(faults)
  return { subject, what, until, reason, apiKeys: apiKeys === true }
}

/** The schema lets exactly one member pass. */
function subjectOf({ user, api_key, session, issuer }: ValueOf<typeof subject>): RevocationSubject {
  if (user !== undefined) return { user }
  if (api_key !== undefined) return { api_key }
  if (session !== undefined) return { session }
  return issuer === undefined ? { tenant: true } : { issuer }
}

/** @param value one that the parameter accepts; the rest after the first `:` may have any characters */
function subjectOfText(value: string | null): RevocationSubject | null {
  if (value === null) return null
  const [, kind = 'tenant', text] = SUBJECTS.exec(value) ?? []
  return subjectOf(kind === 'tenant' ? { tenant: true } : { [kind]: text })
}
