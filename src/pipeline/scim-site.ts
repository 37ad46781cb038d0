/**
 * SCIM at the front door: the addresses of the tenants that have it, their tokens, and the bodies of
 * requests. `seats-admin/scim` answers. No other credential counts here, and the token counts nowhere else.
 */

import { hash, randomBytes } from 'node:crypto'
import { errorForm, type ScimDeps, type ScimTenant, serveScim } from '../../seats-admin/index.ts'
import type { JsonLimits } from '../../seats-admin/model/json-limits.ts'
import type { ScimMode } from '../../seats-admin/model/scim.ts'
import { inShares } from '../../seats-admin/model/time-share.ts'
import { jsonSteps } from '../lib/large-json.ts'
import { areSameBytes } from '../lib/same-bytes.ts'
import type { BuiltInPlace } from '../model/built-in-place.ts'
import { Refusal } from '../model/errors.ts'
import type { PublicHandler, PublicRequest, PublicResponse } from '../model/route.ts'
import { inTurn } from './in-turn.ts'
import { renderedBody } from './rendered-body.ts'
import { coded, WITH_BODY } from './whole-body.ts'

const ROOT = '/scim/{tenant}/v2'

/** The paths after `authPrefix`: each is a name in metrics and in the log. */
export const SCIM_PATHS = ['', '/Users', '/Users/{id}', '/Groups', '/Groups/{id}', '/*'].map(
  (path) => ROOT + path,
)

const TYPE = 'application/scim+json'
/** RFC 7644, section 3.1; providers send `application/json` too. */
const JSON_TYPE = /^application\/(?:scim\+)?json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i
/** RFC 6750, section 2.1. */
const BEARER = /^bearer +([A-Za-z0-9._~+/-]+=*)$/i

/**
 * Of a group with 100,000 members. The body is shorter than most objects of them would be. The attributes of
 * one object are read in a row: those of half a million would hold the event loop for seconds.
 */
const JSON_LIMITS: JsonLimits = { members: 524_288, elements: 262_144, inObject: 4096 }

const missing = new Refusal(
  'credentials_missing',
  'This address needs Authorization: Bearer with the SCIM token of the tenant.',
)
const ambiguous = new Refusal('credentials_ambiguous', 'The Authorization header must be sent once.')
/** The same for a tenant that does not exist, or has no SCIM. */
const wrong = new Refusal('token_invalid', 'The token is not the SCIM token of this address.')
const notJson = new Refusal(
  'media_type_unsupported',
  'The body must be application/scim+json or application/json, in UTF-8.',
)

/** What the configuration says of a tenant. */
interface ConfiguredTenant extends Pick<ScimTenant, 'id' | 'adminSpace'> {
  readonly scim?: { readonly token: readonly string[]; readonly user: { readonly mode: ScimMode } } | null
  /** The address of the gateway, as browsers know it. */
  readonly oidc: { readonly redirectUri: string } | null
}

interface Site {
  readonly tenant: ScimTenant
  /** Of each token. */
  readonly digests: readonly Buffer[]
}

/** @returns null if no tenant has SCIM */
export function openScim(
  { api, tenants }: { readonly api: BuiltInPlace; readonly tenants: ReadonlyMap<string, ConfiguredTenant> },
  deps: ScimDeps,
): PublicHandler | null {
  const sites = new Map([...tenants.values()].flatMap((tenant) => siteOf(tenant, api.authPrefix)))
  if (sites.size === 0) return null
  const segmentsOf = ({ path }: PublicRequest) => path.slice(api.authPrefix.length).split('/').slice(2)
  // The comparison takes the same time for a tenant that does not exist.
  const unknownDigests = [randomBytes(32)]
  const admit = (request: PublicRequest) => {
    const [id = ''] = segmentsOf(request)
    const site = sites.get(id)
    const fault = credentialFault(request.rawHeaders, site?.digests ?? unknownDigests)
    if (fault !== null || site === undefined) return fault ?? wrong
    return { tenant: id, user: 'scim', auth: 'provider' }
  }
  const serve = async (request: PublicRequest) => {
    const [id = '', , ...path] = segmentsOf(request)
    const site = sites.get(id)
    if (site === undefined) throw new Error('a request of SCIM was served without a tenant')
    return respond(
      deps,
      site.tenant,
      request,
      path.map((each) => decodeURIComponent(each)),
    )
  }
  return Object.assign(serve, { admit, pageOf })
}

function siteOf({ id, adminSpace, scim, oidc }: ConfiguredTenant, authPrefix: string): [string, Site][] {
  if (scim == null) return []
  // Never `Host`: a client could have other clients sent elsewhere.
  const origin = URL.parse(oidc?.redirectUri ?? '')?.origin ?? ''
  const base = `${origin}${authPrefix}${ROOT.replace('{tenant}', id)}`
  const tenant = { id, adminSpace, base, mode: scim.user.mode }
  return [[id, { tenant, digests: scim.token.map(digestOf) }]]
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function credentialFault(rawHeaders: readonly string[], digests: readonly Buffer[]): Refusal | null {
  const [line, ...more] = valuesOf(rawHeaders, 'authorization')
  if (line === undefined) return missing
  if (more.length > 0 || line.includes(',')) return ambiguous
  const token = BEARER.exec(line)?.[1]
  if (token === undefined) return wrong
  const digest = digestOf(token)
  // Every one is compared: the time does not tell which of two tokens is accepted.
  return digests.filter((each) => areSameBytes(each, digest)).length > 0 ? null : wrong
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name)
}

async function respond(
  deps: ScimDeps,
  tenant: ScimTenant,
  request: PublicRequest,
  path: readonly string[],
): Promise<PublicResponse | Refusal> {
  const { query, rawHeaders, requestId } = request
  const method = request.method === 'HEAD' ? 'GET' : request.method
  const read = WITH_BODY.has(method) ? await readBody(request) : { value: undefined }
  if (read instanceof Refusal) return read
  const lines = (name: string) => valuesOf(rawHeaders, name)
  const { status, body, headers, scimType } =
    'fault' in read
      ? {
          status: 400,
          body: errorForm(400, 'invalidSyntax', `The body is ${read.fault}.`),
          scimType: 'invalidSyntax',
        }
      : await serveScim(deps, tenant, {
          ...{ method, path, query, requestId, body: read.value },
          ...{ ifMatch: lines('if-match'), ifNoneMatch: lines('if-none-match') },
        })
  return {
    status,
    headers: headers ?? [],
    contentType: TYPE,
    ...(body === undefined ? {} : { body: await renderedBody(body) }),
    ...(scimType === undefined ? {} : { logged: { scim_type: scimType } }),
  }
}

async function readBody({ rawHeaders, body }: PublicRequest) {
  if (body === null) return { value: undefined }
  if (!JSON_TYPE.test(valuesOf(rawHeaders, 'content-type').join(', '))) return notJson
  if (!/^(?:identity)?$/i.test(valuesOf(rawHeaders, 'content-encoding').join(', '))) return coded
  return inTurn(
    () => inShares(jsonSteps(body, JSON_LIMITS)),
    () => false,
  )
}

/** RFC 7644, section 3.12, for whatever refuses a request at these addresses. */
function pageOf({ status, detail }: Refusal) {
  return { type: TYPE, text: () => JSON.stringify(errorForm(status, null, detail)), headers: [] }
}
