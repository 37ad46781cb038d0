/** `POST /v1/access/explain`: the gateway's own decision on a made-up request of the tenant. */

import { type AdminEndpoint, checker, endpoint, type Scope, type Store } from '../../seats-admin/index.ts'
import {
  list,
  orNull,
  type Schema,
  strictObject,
  text,
  textItem,
  type ValueOf,
} from '../../seats-admin/model/json-schema.ts'
import { type AdminRefusal, inputInvalid, isRefusal } from '../../seats-admin/model/refusal.ts'
import { mapInShares, TimeShare } from '../../seats-admin/model/time-share.ts'
import { isUlid } from '../../seats-admin/model/ulid.ts'
import type { User } from '../../seats-admin/model/user.ts'
import type { IdentityConfig, TenantConfig } from '../config/config.ts'
import { acceptedKey, invalidKey, verifiedKey } from '../decision/authn/api-key-authentication.ts'
import { missingCredential } from '../decision/authn/authenticator.ts'
import { decisionRecord, signedIdentityOf } from '../decision/decision-record.ts'
import { unreadableEvaluation } from '../decision/draft.ts'
import { DecisionEngine, type DecisionEngineOptions } from '../decision/engine.ts'
import { decideOnOneState } from '../decision/seats/decision-reads.ts'
import type { Decision, Evaluation, Trace } from '../model/decision.ts'
import type { Seat } from '../model/decision-seat.ts'
import { Refusal } from '../model/errors.ts'
import { isIssuerUser } from '../model/issuer-user.ts'
import { takesTenant } from '../model/route.ts'
import { membershipClaims } from '../model/membership.ts'
import type { Principal } from '../model/principal.ts'
import { LEFT_OUT } from '../model/left-out-groups.ts'
import { explainedRecord } from './explained-record.ts'
import { namedUser } from './named-user.ts'
import { requestOfQuestion } from './mcp-questions.ts'
import { madeUpRequest } from './offline-engine.ts'
import { NO_KEY, seatsMissing, userMissing } from './unknown-caller.ts'

/** The parts of the configuration that decide requests. */
export interface Explaining {
  readonly engine: Omit<DecisionEngineOptions, 'authenticator' | 'lookups'>
  readonly tenants: ReadonlyMap<string, TenantConfig>
  /** The settings of signed identity; null if identity is not signed. */
  readonly identity: Pick<IdentityConfig, 'header'> | null
  /**
   * The refusal of a request by the listener.
   *
   * @param line the request line; one character of its target is a byte
   */
  refusalOf(line: { method: string; target: string; host: string | null }): Refusal | null
}

interface ExplainDeps {
  readonly store: Pick<Store, 'seatByName' | 'seatById' | 'readUser' | 'listUsers' | 'apiKeyById'>
  /** The clock, in ms since the epoch. */
  readonly now: () => number
  readonly explaining: () => Explaining
}

/** The most Seats, as for an API key. */
const MAX_SEATS = 1000
/** The most spaces of all Seats together; a token of a sign-in names 5,000 at most. */
const MAX_ENTRIES = 20_000
/** The most characters of a user, as in a token: whatever a token names can be asked about. */
const MAX_USER = 16 * 1024

const body = checker(
  strictObject(
    {
      method: text('The method of the request.', { examples: ['GET'] }),
      path: text('The path of the request, with or without a query.', {
        format: 'well-formed',
        examples: ['/v1/trainings/7'],
      }),
    },
    {
      space: orNull(
        text(
          'The value of the `Space` header, or of the header that the route reads its space from. If it is absent or null, the request has none.',
          { format: 'well-formed' },
        ),
      ),
      host: orNull(text('The host of the request, if route tables list hosts.', { format: 'well-formed' })),
      seats: orNull(
        list(
          textItem({ format: 'well-formed', examples: ['Viewer'] }),
          'Names of Seats: the caller has a token that names them.',
          { maxItems: MAX_SEATS },
        ),
      ),
      user: orNull(
        text(
          'The `sub` of a user, or an email address that one known user has: the caller has a token with the Seats of the latest sign-in or, with `seats_from: scim`, of the groups.',
          { maxLength: MAX_USER, format: 'well-formed', examples: ['alice'] },
        ),
      ),
      api_key: orNull(
        text('The id of an API key, or the key itself.', { examples: ['01KAJ0Z1V5Q8T2C0W7M3E9R4XD'] }),
      ),
    },
  ),
)

type ExplainRequest = ValueOf<typeof body.schema>

export function explainEndpoint(deps: ExplainDeps): AdminEndpoint {
  return endpoint({
    method: 'POST',
    path: '/v1/access/explain',
    permission: 'access:read',
    operation: 'explainDecision',
    summary: 'Shows the decision on a request, and its reason. Sends no request.',
    details:
      'The caller is named by Seats, a user or an API key. The decision is made by the code that decides requests, on the Seats as they are now.',
    body,
    reads: true,
    answers: { 200: explainedRecord as Schema<Record<string, unknown>> },
    codes: [],
    async handle({ body: request, caller: { tenant, scope } }) {
      const holders = [request.seats, request.user, request.api_key].filter((each) => each != null)
      if (holders.length > 1)
        return inputInvalid([{ path: '', message: 'at most one of seats, user and api_key is allowed' }])
      const user = request.user == null ? null : await namedUser(request.user, { tenant, scope }, deps.store)
      if (isRefusal(user)) return user
      const explaining = deps.explaining()
      const result = await explained({ ...request, user }, { tenant, scope }, explaining, deps)
      if (isRefusal(result)) return result
      const { missing, voided, leftOut } = result
      const { decision } = result.evaluation
      const signedIdentity = signedIdentityOf(explaining.identity, decision) ?? undefined
      const caller = { by: byOf(request), known: missing === null ? null : missing === '' }
      const shown = withoutOthers(decision, tenant)
      const reason = [shown.reason, missing, voided, leftOut].filter(Boolean).join(' ')
      return { status: 200, body: await recordOf({ ...shown, reason }, { caller, signedIdentity }) }
    },
  })
}

function byOf({ seats, user, api_key: key }: ExplainRequest): 'seats' | 'user' | 'api_key' | 'none' {
  if (user != null) return 'user'
  if (key != null) return 'api_key'
  return seats != null ? 'seats' : 'none'
}

/** What the tenant lacks of the caller, as a sentence; '' if nothing; null without a credential. */
type Missing = string | null

/** How long in ms a refusal waits for the spaces that it names. */
const SPACES_PATIENCE = 1000

async function explained(
  question: ExplainRequest,
  { tenant: id, scope }: { readonly tenant: string; readonly scope: Scope },
  { engine: parts, tenants, refusalOf }: Explaining,
  deps: ExplainDeps,
): Promise<{ evaluation: Evaluation; missing: Missing; voided: string; leftOut: string } | AdminRefusal> {
  const { method, path, host = null, space = null } = question
  const httpRequest = requestOfQuestion(parts.table, { method, target: path, host })
  if (httpRequest instanceof Refusal) return inputInvalid([{ path: '/path', message: httpRequest.detail }])
  // The bytes on the wire: UTF-8, one character a byte.
  const target = Buffer.from(httpRequest.target, 'utf8').toString('latin1')
  const lines = space === null ? [] : [space.replace(/^[ \t]+|[ \t]+$/g, '')]
  const request = madeUpRequest({ ...httpRequest, target }, lines)
  const refusal = refusalOf({ method: httpRequest.method, target, host: httpRequest.host })
  if (refusal !== null)
    return {
      evaluation: unreadableEvaluation({ ...request, target: httpRequest.target }, refusal),
      missing: null,
      voided: '',
      leftOut: '',
    }
  const tenant = tenants.get(id)
  if (tenant === undefined) throw new Error(`no tenant ${id}`)
  let isTooLarge = false
  let missing: Missing = null
  let voided = ''
  /** The user at the authentication; undefined: the decision needs no caller. */
  let signedIn: User | null | undefined
  // The engine sees the caller, and no more of the tenant than the asker may see.
  const engine = new DecisionEngine({
    ...parts,
    authenticator: {
      async authenticate(_credentials, trace) {
        const identity = await explainedCaller(
          question,
          { tenant, scope },
          { ...deps, seats: parts.seats },
          trace,
        )
        missing = identity.missing
        signedIn = identity.signedIn
        isTooLarge = identity.isTooLarge
        return identity.caller
      },
    },
    seats: scope.admin ? parts.seats : seatsOfSpace(parts.seats, scope.space),
    fewSeats: Infinity,
  })
  const evaluation = await decideOnOneState(parts.seats.received, async (reads) => {
    const made = await engine.evaluate(request, true)
    voided = await voidedTokens(made.decision, parts, reads)
    // A sign-in during the decision is no change of the feed.
    if (
      question.user != null &&
      signedIn !== undefined &&
      !hasSameSeats(signedIn, await readUser(question.user, id, scope, deps))
    )
      reads.outdated()
    return made
  })
  if (isTooLarge) return tooManyEntries(question)
  const leftOut = missing === '' && signedIn?.areGroupsLeftOut === true ? LEFT_OUT : ''
  return { evaluation: await engine.nameSpaces(evaluation, SPACES_PATIENCE), missing, voided, leftOut }
}

/** Which tokens of the user are void, as a sentence; '': none. The decision is that on a token of now. */
async function voidedTokens(
  { principal }: Decision,
  { restrictions }: Explaining['engine'],
  trace: Trace,
): Promise<string> {
  if (principal === null || principal.method === 'api-key') return ''
  const refusal = await restrictions.restriction({ ...principal, issuedAt: -Infinity }, trace)
  return refusal?.code === 'token_revoked' ? refusal.detail : ''
}

function tooManyEntries({ user }: ExplainRequest): AdminRefusal {
  const message = `names Seats with more than ${MAX_ENTRIES} spaces together`
  return inputInvalid([{ path: user == null ? '/seats' : '/user', message }])
}

/** The record. Its only part that may be large is made in slices: the entries of a token. */
async function recordOf(decision: Decision, more: Readonly<Record<string, unknown>>) {
  const { principal } = decision
  if (principal?.claims.by !== 'name') return decisionRecord(decision, more)
  const { claims } = principal
  const entries: Record<string, readonly string[]> = {}
  await mapInShares(claims.entries, ([space, names]) => (entries[space] = names))
  const record = decisionRecord({ ...decision, principal: { ...principal, claims: NO_CLAIMS } }, more)
  return { ...record, principal: { ...principal, claims: { ...claims, entries } } }
}

const NO_CLAIMS = { by: 'name', entries: new Map(), issuedAt: 0 } as const

function readUser(user: string, tenant: string, scope: Scope, { store }: ExplainDeps): Promise<User | null> {
  return store.readUser(tenant, user, { ...scope, admin: true })
}

function hasSameSeats(one: User | null, other: User | null): boolean {
  return JSON.stringify(one?.seats) === JSON.stringify(other?.seats)
}

/**
 * The caller, as its credential would be authenticated: a holder of Seats, a user or an API key; without
 * these, the request has no credential.
 *
 * @param asker outside the admin space, only Seats of its space are known, and the users and keys that hold
 *   one
 * @returns the caller. It has an owner, and so restrictions, only if the asker may see the user.
 */
async function explainedCaller(
  { seats = null, user = null, api_key: key = null, space = null }: ExplainRequest,
  { tenant, scope }: { readonly tenant: TenantConfig; readonly scope: Scope },
  deps: ExplainDeps & { readonly seats: Pick<Seats, 'groupsOf'> },
  trace: Trace,
): Promise<ExplainedCaller> {
  const ofNoUser = { signedIn: null, isTooLarge: false, missing: '' }
  if (key !== null) {
    const caller = await keyOf(key, tenant.id, scope, deps, trace)
    return { caller, ...ofNoUser, missing: caller === invalidKey ? NO_KEY : '' }
  }
  if (seats === null && user === null) return { caller: missingCredential, ...ofNoUser }
  const now = deps.now()
  const record = user === null ? null : await readUser(user, tenant.id, scope, deps)
  // A name without a Seat counts in the space of the request, so that the record has its verdict.
  const ofUnknown = seats === null || space === null ? [] : [space]
  const entries = new Map<string, string[]>()
  const without: string[] = []
  let count = 0
  const share = new TimeShare()
  const byGroups = user === null || isIssuerUser(user) ? null : membershipClaims(tenant, user, record?.member)
  const member = byGroups?.member ?? null
  // An administrator sees the user anyway.
  const groups = member === null || scope.admin ? null : await deps.seats.groupsOf(tenant.id, member, trace)
  const own = byGroups === null ? record?.seats : groups
  for (const name of new Set(seats ?? own ?? [])) {
    const load = () => deps.store.seatByName(tenant.id, name)
    const { seat } = await trace.read('seat-name', tenant.id, name, load)
    const shown = seat === null ? [] : shownSpaces(seat.spaces, scope)
    count += shown.length
    if (count > MAX_ENTRIES) return { caller: missingCredential, ...ofNoUser, isTooLarge: true }
    await share.next()
    const isHidden = shown.length === 0 && (seat === null || !scope.admin)
    if (isHidden) without.push(name)
    for (const each of isHidden ? ofUnknown : shown) {
      const named = entries.get(each) ?? []
      named.push(name)
      entries.set(each, named)
    }
  }
  const isKnown = scope.admin || (record !== null && entries.size > 0)
  const { leeway, lifetime } = tenant.token
  const named = { by: 'name', entries, issuedAt: Math.floor(Math.floor(now / 1000) - leeway / 1000) } as const
  // The principal is like the one of a token that sign-in mints now.
  const caller: Principal = {
    method: user !== null && isIssuerUser(user) ? 'issuer' : 'bearer',
    tenant: tenant.id,
    user: user ?? 'explain',
    email: isKnown ? (record?.email ?? null) : null,
    claims: byGroups !== null && isKnown ? byGroups : named,
    owner: isKnown ? user : null,
    issuedAt: Infinity,
    session: null,
    validUntil: now + lifetime,
  }
  const missing =
    user === null ? seatsMissing(without) : userMissing(record !== null && isKnown, tenant, byGroups)
  return { caller, signedIn: record, isTooLarge: false, missing }
}

interface ExplainedCaller {
  readonly caller: Principal | Refusal
  readonly signedIn: User | null
  readonly isTooLarge: boolean
  readonly missing: string
}

/** The caller of an API key. A key that the asker cannot see gets the answer of a key that does not exist. */
async function keyOf(
  text: string,
  tenant: string,
  scope: Scope,
  { store, now }: ExplainDeps,
  trace: Trace,
): Promise<Principal | Refusal> {
  const recordOf = (id: string) => trace.read('api-key', tenant, id, () => store.apiKeyById(tenant, id))
  const isOwn = { has: (id: string) => id === tenant }
  const record = isUlid(text) ? await recordOf(text) : await verifiedKey(text, isOwn, (_, id) => recordOf(id))
  if (record === null) return invalidKey
  if (scope.admin) return acceptedKey(record, now())
  const visible: string[] = []
  for (const id of record.seatIds) {
    const seat = await trace.read('seat', tenant, id, () => store.seatById(tenant, id))
    if (seat !== null && shownSpaces(seat.spaces, scope).length > 0) visible.push(id)
  }
  return visible.length === 0 ? invalidKey : acceptedKey({ ...record, seatIds: visible }, now())
}

/** The spaces that the asker may see. */
function shownSpaces(spaces: readonly string[], { admin, space }: Scope): readonly string[] {
  return admin ? spaces : spaces.filter((each) => each === space)
}

type Seats = DecisionEngineOptions['seats']

/** The Seats that list one space, as if they listed it alone. */
function seatsOfSpace(seats: Seats, space: string): Seats {
  const shown = (seat: Seat | null) =>
    seat?.spaces.has(space) === true ? { ...seat, spaces: new Set([space]) } : null
  return {
    received: seats.received,
    async seatByName(...key) {
      const named = await seats.seatByName(...key)
      const seat = shown(named.seat)
      return { seat, givenUpAt: seat === null ? null : named.givenUpAt }
    },
    seatById: async (...key) => shown(await seats.seatById(...key)),
    groupsOf: (...key) => seats.groupsOf(...key),
    grantsOf: (...key) => seats.grantsOf(...key),
    // This endpoint does not need it.
    wholeSeat: async () => null,
  }
}

/** The decision without the entry and the sign-in of another tenant. */
function withoutOthers(decision: Decision, tenant: string): Decision {
  const { route } = decision
  if (route === null) return decision
  if (!takesTenant(route, tenant)) return { ...decision, route: null, permission: null }
  return route.signIn === null || route.signIn === tenant
    ? decision
    : { ...decision, route: { ...route, signIn: null } }
}
