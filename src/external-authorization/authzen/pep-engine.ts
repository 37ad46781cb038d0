/**
 * Decides which policy enforcement points (PEP) may send requests of AuthZEN. The decision engine decides
 * these as any other, by the endpoints' own table: the bearer token is an API key that must hold
 * `access:evaluate` in the admin space of its tenant.
 */

import { parseApiKey } from '../../../seats-admin/model/api-key.ts'
import type { TenantConfig } from '../../config/config.ts'
import type { ApiKeys } from '../../decision/authn/api-key-authentication.ts'
import { DecisionEngine, type DecisionEngineOptions } from '../../decision/engine.ts'
import { unreadableEvaluation } from '../../decision/draft.ts'
import type { AuthorizationRequest, Credentials } from '../../model/authorization-request.ts'
import type { Evaluation, Trace } from '../../model/decision.ts'
import { Refusal } from '../../model/errors.ts'
import { DESCRIBING } from '../dialect.ts'
import { isJsonType } from '../../pipeline/whole-body.ts'
import { isRequestId } from '../../pipeline/request-input.ts'

export type Tenants = ReadonlyMap<string, Pick<TenantConfig, 'adminSpace'>>

const missing = new Refusal('credentials_missing', 'Send an API key as Authorization: Bearer.')
const twoCredentials = new Refusal(
  'credentials_ambiguous',
  'The request has another credential than one Authorization header with one API key.',
)
const notBearer = new Refusal('api_key_invalid', 'The Authorization header must be "Bearer" and one API key.')
const malformed = (detail: string) => new Refusal('request_malformed', detail)
const unwantedSpace = malformed('The Space header counts for nothing here: name the space in the context.')
const otherDialect = malformed('The request has a header by which other proxies describe a request.')
const badRequestId = malformed('X-Request-ID must be one value of 1 to 128 letters, digits and . _ ~ -')
/** The certification scenario wants 400 (C 2.4.3), not 415. */
const notJson = new Refusal('input_invalid', 'The body must be application/json, in UTF-8.')

export class PepEngine extends DecisionEngine {
  readonly #tenants: Tenants

  /** @param keys authenticate API keys */
  constructor(parts: Omit<DecisionEngineOptions, 'authenticator'>, keys: ApiKeys, tenants: Tenants) {
    const authenticate = (credentials: Credentials, trace: Trace) => {
      const key = bearerOf(credentials)
      return typeof key === 'string' ? keys.authenticate(key, trace) : key
    }
    super({ ...parts, authenticator: { authenticate } })
    this.#tenants = tenants
  }

  override evaluate(request: AuthorizationRequest, stages = false): Evaluation | Promise<Evaluation> {
    const refusal = refusalOf(request)
    if (refusal !== null) return unreadableEvaluation(request, refusal)
    return super.evaluate({ ...request, credentials: this.#inAdminSpace(request.credentials) }, stages)
  }

  /**
   * Sets the space to the admin space of the tenant that the key names. The engine verifies the key after
   * that.
   */
  #inAdminSpace(credentials: Credentials): Credentials {
    const key = bearerOf(credentials)
    const tenant = typeof key === 'string' ? (parseApiKey(key)?.tenant ?? '') : ''
    const space = this.#tenants.get(tenant)?.adminSpace
    return { ...credentials, space: space === undefined ? [] : [space] }
  }
}

const BEARER = /^Bearer +([^ ,]+)$/i

/** The API key. A cookie is no credential here, as no browser sends these requests. */
function bearerOf({ apiKey, authorization }: Credentials): string | Refusal {
  const [line, ...others] = authorization
  if (others.length > 0 || (line !== undefined && apiKey.length > 0)) return twoCredentials
  if (line === undefined) return missing
  return BEARER.exec(line)?.[1] ?? notBearer
}

function refusalOf({ method, credentials, fields }: AuthorizationRequest): Refusal | null {
  const linesOf = (name: string) => fields?.linesOf(name) ?? []
  if (credentials.space.length > 0) return unwantedSpace
  if (DESCRIBING.some((name) => linesOf(name).length > 0)) return otherDialect
  const ids = linesOf('x-request-id')
  const [id, ...more] = ids === 'other spelling' ? [] : ids
  if (ids.length > 0 && (id === undefined || more.length > 0 || !isRequestId(id))) return badRequestId
  const types = linesOf('content-type')
  return method === 'POST' && (types === 'other spelling' || !isJsonType(types.join(', '))) ? notJson : null
}
