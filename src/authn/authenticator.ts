/**
 * Who calls? Asks each way to say so in order: API key, bearer token. The first that is present decides, for good or
 * ill. Built for one configuration and dropped with it, and with it all that it remembers. Called by the judge.
 */

import type { TenantConfig } from '../config/config.ts'
import { Refusal } from '../errors.ts'
import type { Credentials, Principal, Trace } from '../exchange.ts'
import { type ApiKeyOptions, ApiKeys } from './api-key.ts'
import { BearerTokens } from './bearer.ts'

export interface AuthenticatorOptions {
  readonly tenants: ReadonlyMap<string, TenantConfig>
  /** For tokens that carry no `tenant_id`; null: they are refused. */
  readonly defaultTenant: string | null
  /** The API key's record as it is now; rejects when the store can't be asked. */
  readonly apiKeyById: ApiKeyOptions['apiKeyById']
  /** ms since the epoch */
  readonly now: () => number
  /** Verified tokens remembered; 10,000 when left out. */
  readonly maxTokens?: number
  /** Accepted API keys remembered; 10,000 when left out. */
  readonly maxKeys?: number
}

const DEFAULT_MAX = 10_000

const missing = new Refusal(
  'credentials_missing',
  'This route needs a credential: x-api-key, or Authorization: Bearer.',
)
const ambiguousKey = new Refusal(
  'credentials_ambiguous',
  'The x-api-key header is sent more than once or holds several values.',
)
const ambiguousAuthorization = new Refusal(
  'credentials_ambiguous',
  'The Authorization header is sent more than once or holds several values.',
)

export class Authenticator {
  readonly #apiKeys: ApiKeys
  readonly #bearer: BearerTokens

  constructor(options: AuthenticatorOptions) {
    const { maxTokens = DEFAULT_MAX, maxKeys = DEFAULT_MAX } = options
    this.#apiKeys = new ApiKeys({ ...options, maxKeys })
    this.#bearer = new BearerTokens({ ...options, maxTokens })
  }

  /**
   * At once when memory can answer. Rejects when the store can't be asked.
   *
   * A header that says two things is refused also where another one would decide: whoever is next in line may read
   * the other. An Authorization header of another scheme is not for the gateway, and is as good as none.
   */
  authenticate(
    { apiKey, authorization }: Credentials,
    trace?: Trace,
  ): Principal | Refusal | Promise<Principal | Refusal> {
    if (isAmbiguous(apiKey)) return ambiguousKey
    if (isAmbiguous(authorization)) return ambiguousAuthorization
    const [key] = apiKey
    if (key !== undefined) return this.#apiKeys.authenticate(key, trace)
    const [line] = authorization
    return (line === undefined ? null : this.#bearer.authenticate(line)) ?? missing
  }
}

function isAmbiguous(lines: readonly string[]): boolean {
  return lines.length > 1 || (lines[0]?.includes(',') ?? false)
}
