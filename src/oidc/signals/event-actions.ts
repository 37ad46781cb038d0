/**
 * What the events of a provider change, by CAEP 1.0 and RISC 1.0. Each event is a revocation or a block, or
 * nothing.
 */

import {
  isRefusal,
  isTokenState,
  type RevocationInput,
  TOLD_WITHIN,
  type Writer,
} from '../../../seats-admin/index.ts'
import { isSessionId } from '../../../seats-admin/model/session-record.ts'
import { Refusal } from '../../model/errors.ts'
import type { Context } from '../context.ts'
import type { OidcTenant } from '../ports.ts'
import { sanitizeName } from '../provider/log-text.ts'
import { providerSessionDigest, tokenDigest } from '../session/provider-logout.ts'
import { providerAuthor } from '../session/end-session.ts'
import { isSubject } from '../tokens/id-token.ts'
import { type Effect, MOST_USERS, pending, revokeAll, usersOf } from './provider-revocation.ts'
import { type EventSubject, readEventSubject, type SecurityEvent, SetFault } from './security-event.ts'
import type { UserIdentifier } from './subject-identifier.ts'

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/'
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/'
const SSF = 'https://schemas.openid.net/secevent/ssf/event-type/'

/** Whose events they are: the tenant, and the issuer of the transmitter. */
export interface EventSource {
  readonly tenant: OidcTenant
  readonly issuer: string
}

/** An event whose signature is right, as its action gets it. */
interface Reported extends EventSource {
  readonly author: Writer
  readonly subject: EventSubject
  /** The digest of the token. */
  readonly token: Uint8Array
  /** The `iat` of the token, in ms since the epoch. */
  readonly issuedAt: number
  /** The name of the event, for the log and as the reason. */
  readonly name: string
}

/** @returns null: the gateway does not know the subject */
type Action = (context: Context, reported: Reported) => Promise<Effect | Refusal | null>

const ACTIONS: Readonly<Record<string, Action>> = {
  [`${CAEP}session-revoked`]: revokeSessionOrUser,
  [`${CAEP}credential-change`]: (context, reported) => revokeUser(context, reported, 'existing'),
  [`${CAEP}token-claims-change`]: (context, reported) => revokeUser(context, reported, 'tokens'),
  [`${RISC}account-disabled`]: disable,
  [`${RISC}account-purged`]: disable,
  [`${RISC}account-enabled`]: enable,
}

/** Events about the stream itself, which change nothing. */
const OF_STREAM = new Set([`${SSF}verification`, `${SSF}stream-updated`])

const noSubject = new SetFault('invalid_request', 'The event names no valid subject.')
const unsupported = new SetFault(
  'invalid_request',
  'The subject cannot be resolved: its format must be iss_sub, email, opaque, or complex with a user or a session.',
)
const manyUsers = new SetFault('invalid_request', 'More users have the address than one person can be.')

/** @param event one whose signature is right. @returns null once its change is closed. */
export async function applyEvent(
  context: Context,
  { tenant, issuer }: EventSource,
  { jti, issuedAt, type, payload, subject: unread }: SecurityEvent,
): Promise<SetFault | Refusal | null> {
  const name = type.slice(type.lastIndexOf('/') + 1)
  const fields = { name: sanitizeName(name), type: sanitizeName(type) }
  const { log } = context
  if (OF_STREAM.has(type)) {
    const { status } = payload
    const more = typeof status === 'string' ? { status: sanitizeName(status) } : {}
    log.info(
      { event: 'shared_signal_stream', ...fields, ...more },
      'a provider sent an event about its stream',
    )
    return null
  }
  const action = Object.hasOwn(ACTIONS, type) ? ACTIONS[type] : undefined
  if (action === undefined) {
    log.warn(
      { event: 'shared_signal_ignored', ...fields, reason: 'unknown event' },
      'an event changes nothing',
    )
    return null
  }
  const subject = readEventSubject(unread)
  if (subject === 'malformed') return noSubject
  if (subject === 'unsupported') return unsupported
  const author = providerAuthor(context, tenant, issuer)
  const token = tokenDigest(issuer, tenant.oidc.events?.audience ?? '', jti)
  const effect = await action(context, { tenant, issuer, author, subject, token, issuedAt, name })
  if (effect === tooMany) return manyUsers
  if (effect instanceof Refusal) return effect
  if (effect === null) {
    // The event is answered: sent again by a stranger, it would lift a block that a later one makes.
    await context.sessions.recordToken(tenant.id, token, context.now())
    log.warn(
      { event: 'shared_signal_ignored', ...fields, reason: 'unknown subject' },
      'an event changes nothing',
    )
  } else if (effect === 'used')
    log.info({ event: 'shared_signal', ...fields, used: true }, 'an event came again')
  else log.info({ event: 'shared_signal', ...fields, ...effect }, 'an event of the provider took effect')
  return null
}

/** Stands for {@link manyUsers} among the results of an action. */
const tooMany = new Refusal('subject_unsupported', manyUsers.description)

/** The users of the issuer of the tenant that the event names; those of others are not of this tenant. */
async function knownUsers(
  context: Context,
  tenant: OidcTenant,
  user: UserIdentifier | null,
): Promise<readonly string[] | Refusal> {
  if (user === null || isForeign(tenant, user)) return []
  const users = await usersOf(context, tenant, user)
  return users.length > MOST_USERS ? tooMany : users
}

function isForeign({ oidc }: OidcTenant, user: UserIdentifier): boolean {
  return user.format === 'iss_sub' && user.iss !== oidc.issuer
}

/** As {@link knownUsers}, but a user by the provider's own id need not be known. */
async function namedUsers(
  context: Context,
  tenant: OidcTenant,
  user: UserIdentifier | null,
): Promise<readonly string[] | Refusal> {
  const users = await knownUsers(context, tenant, user)
  if (users instanceof Refusal || users.length > 0 || user === null || user.format === 'email') return users
  const sub = user.format === 'opaque' ? user.id : user.sub
  return isForeign(tenant, user) || !isSubject(sub) ? [] : [sub]
}

function inputOf(name: string, subject: RevocationInput['subject'], more: Partial<RevocationInput> = {}) {
  return { subject, what: 'existing', until: null, reason: name, apiKeys: false, ...more } as const
}

async function revokeSessionOrUser(context: Context, reported: Reported): Promise<Effect | Refusal | null> {
  const { tenant, author, subject, token, name } = reported
  if (subject.session === null) return revokeUser(context, reported, 'existing')
  const users = subject.user === null ? null : await knownUsers(context, tenant, subject.user)
  if (users instanceof Refusal) return users
  const sessions = await sessionsOf(context, tenant, subject.session)
  const own = sessions.filter(({ user }) => users === null || users.includes(user))
  const inputs = own.map(({ id }) => inputOf(name, { session: id }))
  return inputs.length === 0 ? null : revokeAll(context, author, inputs, token)
}

/** The most sessions that one session at the provider has here. */
const MOST_SESSIONS = 500

/** By our id, or that of the provider's session. A sign-in from before does not complete. */
async function sessionsOf(
  { sessions, now }: Context,
  { id: tenant, oidc }: OidcTenant,
  sid: string,
): Promise<readonly { readonly id: string; readonly user: string }[]> {
  const own = isSessionId(sid) ? await sessions.sessionById(tenant, sid) : null
  const providerSession = providerSessionDigest(oidc.issuer, sid)
  await sessions.recordLogout(tenant, providerSession, now())
  const others = await sessions.openSessions(tenant, { providerSession }, MOST_SESSIONS)
  return own === null ? others : [own, ...others.filter(({ id }) => id !== own.id)]
}

async function revokeUser(
  context: Context,
  reported: Reported,
  what: 'existing' | 'tokens',
): Promise<Effect | Refusal | null> {
  const { tenant, author, subject, token, name } = reported
  if (subject.user === null) return revokeSessionOrUser(context, reported)
  const users = await knownUsers(context, tenant, subject.user)
  if (users instanceof Refusal) return users
  const inputs = users.map((user) => inputOf(name, { user }, { what }))
  return inputs.length === 0 ? null : revokeAll(context, author, inputs, token)
}

/** After an event that is newer, it makes no block, and still ends what was issued. */
async function disable(context: Context, { tenant, author, subject, token, issuedAt, name }: Reported) {
  const users = await namedUsers(context, tenant, subject.user)
  if (users instanceof Refusal) return users
  const inputs = users.map((user) => inputOf(name, { user }, { what: 'all', origin: 'events' }))
  return inputs.length === 0 ? null : revokeAll(context, author, inputs, token, issuedAt)
}

/** Lifts the blocks that events made, and no other, unless a newer event has made one. */
async function enable(
  context: Context,
  { tenant, author, subject, token, issuedAt }: Reported,
): Promise<Effect | Refusal | null> {
  const { signals, sessions, announce, now } = context
  const users = await namedUsers(context, tenant, subject.user)
  if (users instanceof Refusal || users.length === 0) return users instanceof Refusal ? users : null
  for (const [at, user] of users.entries()) {
    const request = { token: at === 0 ? token : null, saidAt: issuedAt }
    const lifted = await signals.liftBlock(author, { user, origin: 'events' }, request)
    if (isTokenState(lifted)) return lifted.token === 'used' ? 'used' : pending
    if (isRefusal(lifted)) return new Refusal('unavailable', lifted.detail, { retryAfter: TOLD_WITHIN })
    await announce(lifted)
  }
  await sessions.recordToken(author.tenant, token, now())
  return { revocations: [] }
}
