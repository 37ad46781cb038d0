/**
 * Global Token Revocation (draft-parecki-oauth-global-token-revocation-06): the provider revokes what a user
 * was given. Public: the token of the provider is the only proof.
 *
 * Anyone can send a request, so everything that needs no key is checked before the signature. Whether a user
 * is known is told to the provider alone.
 */

import { isUtf8 } from 'node:buffer'
import { GLOBAL_TOKEN_REVOCATION } from '../../config/oidc-settings.ts'
import { isJsonObject, parseJson } from '../../lib/json.ts'
import { Refusal } from '../../model/errors.ts'
import type { PublicRequest } from '../../model/route.ts'
import { type Context, withFields } from '../context.ts'
import type { Reply } from '../ports.ts'
import { sanitizeName } from '../provider/log-text.ts'
import { invalid, isJson } from '../sign-in/body.ts'
import { headerLines } from '../sign-in/browser.ts'
import { providerAuthor } from '../session/end-session.ts'
import { tokenDigest } from '../session/provider-logout.ts'
import { checkSignature, type CompactJws, invalidToken, readCompact } from '../tokens/compact-jws.ts'
import { isOpaqueId } from '../tokens/id-token-claims.ts'
import { checkTimes } from '../tokens/id-token.ts'
import { MOST_USERS, outage, revokeAll, usersOf } from './provider-revocation.ts'
import { readIdentifier, type UserIdentifier } from './subject-identifier.ts'
import type { TenantSignals } from './tenant-signals.ts'

/** The most bytes of a body, and characters of a token. */
const MAX_BODY = 16 * 1024
const MAX_TOKEN = 16 * 1024
/** Members and elements of a body. */
const JSON_LIMITS = { members: 64, elements: 64 }
/** The most seconds between `iat` and `exp`. */
const MAX_LIFETIME = 600
const TYPES = new Set([null, 'jwt', 'global-token-revocation+jwt'])

const notJson = new Refusal('media_type_unsupported', 'The body must be application/json, in UTF-8.')
const tooLarge = new Refusal('body_too_large', `The body must have at most ${MAX_BODY} bytes.`)
const noToken = new Refusal(
  'credentials_missing',
  'The Authorization header must be Bearer and one token of the identity provider.',
)
const malformed = invalidToken('The token is not a signed JWT in canonical form.')
const otherType = invalidToken('The token is of another type.')
/** The same for an unknown tenant, so that it does not reveal which tenants exist. */
const otherIssuer = invalidToken('The token is not of the identity provider of this address.')
const otherAudience = invalidToken('The token is not for this address, and for it alone.')
const invalidTimes = invalidToken(
  `The token has expired, has no valid exp and iat, or lasts for more than ${MAX_LIFETIME / 60} minutes.`,
)
const noId = invalidToken('The token must have a valid jti.')
const used = invalidToken('The token was already used.')
const foreign = new Refusal('subject_foreign', 'The subject is of another issuer than the token.')
const unsupported = new Refusal(
  'subject_unsupported',
  'The format of the subject must be iss_sub, email or opaque.',
)
const manyUsers = new Refusal('subject_unsupported', 'More users have the address than one person can be.')
const unknown = new Refusal('user_not_found', 'The tenant does not know the user.')

/** Answers 204 once no instance accepts what the user was given. Rejects if the store is unavailable. */
export async function globalTokenRevocation(context: Context, request: PublicRequest): Promise<Reply> {
  const id = request.path.slice(GLOBAL_TOKEN_REVOCATION.length + 1)
  const signals = context.signalsOf.get(id)
  const own = { ...context, log: withFields(context.log, { tenant: sanitizeName(id) }) }
  const refusal = await revoke(own, request, signals)
  if (refusal === null) return { status: 204, headers: [] }
  const fields = { event: 'global_token_revocation_refused', code: refusal.code, reason: refusal.detail }
  const isConfigured = signals?.revocation != null
  own.log.warn(
    isConfigured ? fields : { ...fields, reason: 'no such tenant, or oidc.revocation is not configured' },
    'a global token revocation was refused',
  )
  return refusal
}

async function revoke(
  context: Context,
  request: PublicRequest,
  signals: TenantSignals | undefined,
): Promise<Refusal | null> {
  const subject = subjectIn(request)
  if (subject instanceof Refusal) return subject
  const jws = tokenIn(request)
  if (jws instanceof Refusal) return jws
  if (signals === undefined || signals.revocation === null) return otherIssuer
  const { tenant, turns, revocation } = signals
  const jti = claimedId(jws, tenant.oidc.issuer, revocation.uri, context.now())
  if (jti instanceof Refusal) return jti
  const forged = await turns
    .run(() => checkSignature(jws, revocation.signer, 'request'))
    .catch(outage(context))
  if (forged !== null) return forged
  if (subject === 'unsupported') return unsupported
  if (subject.format === 'iss_sub' && subject.iss !== tenant.oidc.issuer) return foreign
  const users = await usersOf(context, tenant, subject)
  if (users.length === 0) return unknown
  if (users.length > MOST_USERS) return manyUsers
  const inputs = users.map((user) => ({ ...INPUT, subject: { user } }))
  const token = tokenDigest(tenant.oidc.issuer, revocation.uri, jti)
  const effect = await revokeAll(context, providerAuthor(context, tenant), inputs, token)
  if (effect === 'used') return used
  if (effect instanceof Refusal) return effect
  context.log.info(
    { event: 'global_token_revocation', users, ...effect },
    'the identity provider revoked what a user was given',
  )
  return null
}

const INPUT = {
  what: 'existing',
  until: null,
  reason: 'Global Token Revocation',
  apiKeys: false,
} as const

/** The identifier; `unsupported`: one that can't be resolved, which is told to the provider alone. */
function subjectIn({ rawHeaders, body }: PublicRequest): UserIdentifier | 'unsupported' | Refusal {
  if (body === null || !isJson(rawHeaders)) return notJson
  if (body.length > MAX_BODY) return tooLarge
  if (!isUtf8(body)) return invalid('', 'not valid UTF-8')
  const parsed = parseJson(Buffer.from(body).toString(), JSON_LIMITS)
  if ('fault' in parsed) return invalid('', parsed.fault)
  if (!isJsonObject(parsed.value)) return invalid('', 'must be an object')
  const subject = readIdentifier(parsed.value.sub_id)
  return subject === 'malformed'
    ? invalid('/sub_id', 'must be a subject identifier (RFC 9493) of the format iss_sub, email or opaque')
    : subject
}

function tokenIn({ rawHeaders }: PublicRequest): CompactJws | Refusal {
  const [line, ...others] = headerLines(rawHeaders, 'authorization')
  const text = line === undefined || others.length > 0 ? undefined : /^bearer +([^ ]+)$/i.exec(line)?.[1]
  if (text === undefined) return noToken
  return (text.length > MAX_TOKEN ? null : readCompact(text)) ?? malformed
}

/** @returns the `jti` of a token whose claims are right */
function claimedId({ type, claims }: CompactJws, issuer: string, uri: string, now: number): string | Refusal {
  const { iss, aud, jti, iat, exp } = claims
  if (iss !== issuer) return otherIssuer
  if (!TYPES.has(type)) return otherType
  // As text: an address with a slash more is another one. A token for several is not for this one alone.
  const isForThis = aud === uri || (Array.isArray(aud) && aud.length === 1 && aud[0] === uri)
  if (!isForThis) return otherAudience
  if (checkTimes(claims, now) !== null || !(Number(exp) - Number(iat) <= MAX_LIFETIME)) return invalidTimes
  return isOpaqueId(jti) ? jti : noId
}
