/**
 * A certified OpenID provider (`oidc-provider`) on loopback, one for each tenant. Its accounts and keys can change
 * while it runs. It counts its requests, and can be stopped.
 */

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTHeaderParameters, SignJWT } from 'jose'
import type { Test } from 'tap'
import type { OidcConfig } from '../../src/config/config.ts'
import { listen } from '../support/listen.ts'
import { onceARun } from '../support/once-a-run.ts'
import { onReservedPort } from '../support/servers/ports.ts'

export const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'] as const
export type Algorithm = (typeof ALGORITHMS)[number]

/** Claims of each user; the provider rejects a user that is not here. */
export type Account = Readonly<Record<string, unknown>>

export interface ProviderOptions {
  readonly redirectUri: string
  readonly postLogoutRedirect?: string
  /** The clients' address for back-channel logout; left out: there is none. */
  readonly backchannelLogout?: {
    readonly uri: string
    /** Whether ID tokens and logout tokens name the provider's session (`sid`). */
    readonly session: boolean
  }
  /** False: claims of scopes are in userinfo only, as OpenID Connect Core has it. */
  readonly claimsInIdToken?: boolean
  /** Loads it at the first request, which takes a second: for clients that wait. */
  readonly lazy?: boolean
  /** Metadata more of each client, and features more of the provider, as `oidc-provider` names them. */
  readonly client?: Readonly<Record<string, unknown>>
  readonly features?: Readonly<Record<string, unknown>>
  /** Algorithms of ID tokens; left out: {@link ALGORITHMS}. */
  readonly idTokenAlgorithms?: readonly string[]
  /** Of the issuer; left out: 127.0.0.1, where it listens. */
  readonly loopback?: string
  /** Of the issuer, https: its clients get there by a proxy and a server of TLS alone. */
  readonly name?: string
}

/** Settings of `oidc-provider`: those of the demo's provider as well. */
export const PROVIDER_SETTINGS = {
  pkce: { required: () => true },
  rotateRefreshToken: true,
  issueRefreshToken: () => true,
  ttl: {
    AccessToken: 3600,
    AuthorizationCode: 60,
    Grant: 86_400,
    // Tests move the gateway's clock, not the provider's.
    IdToken: 86_400,
    Interaction: 600,
    RefreshToken: 86_400,
    Session: 86_400,
  },
}

/** What a tenant's `oidc` is in all cases. */
export const OIDC_DEFAULTS = {
  clientKey: null,
  decryptionKeys: [],
  idTokenSigningAlg: null,
  seatsClaim: 'memberOf',
  allowInsecure: true,
  endpointHosts: [],
  acceptProviderTokens: false,
  audience: [],
  sessionLifetime: 8 * 3_600_000,
  origins: [],
  tenantClaim: null,
  revocation: false,
  events: null,
} satisfies Partial<OidcConfig>

/** A client for each authentication method and each algorithm: `client_secret_basic-RS256`, `none-EdDSA`, … */
export const METHODS = ['client_secret_basic', 'client_secret_post', 'none'] as const
export const CLIENT_SECRET = 'a client secret: with + & = and / in it, to be encoded'

type Handler = (request: IncomingMessage, response: ServerResponse) => void

export class TestProvider {
  readonly issuer: string
  readonly accounts = new Map<string, Account>()
  /** Path → number of requests. */
  readonly requestCounts = new Map<string, number>()
  /** Replaces the response; null: no response. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | null = null
  /** Receives the bodies that the provider sends. */
  sends: (body: string) => void = () => {}
  readonly #server: Server
  readonly #options: ProviderOptions
  readonly #storage = new Map<string, unknown>()
  #handling: Promise<Handler> | null = null
  #keys: Promise<JWK[]> | null = null

  private constructor(server: Server, port: number, options: ProviderOptions) {
    this.#server = server
    this.#options = options
    const { name, loopback = '127.0.0.1' } = options
    this.issuer = name === undefined ? `http://${loopback}:${port}` : `https://${name}:${port}`
  }

  static async start(t: Test, options: ProviderOptions): Promise<TestProvider> {
    const server = createServer((request, response) => provider.#serve(request, response))
    // A reserved port is free for it when it comes back.
    const port = await onReservedPort(t, (reserved) => listen(t, server, '127.0.0.1', reserved))
    const provider = new TestProvider(server, port, options)
    if (options.lazy !== true) await provider.#ready()
    return provider
  }

  /** New keys replace all old ones; sessions and clients stay. */
  async rotateKeys(): Promise<void> {
    this.#keys = Promise.all(ALGORITHMS.map(newKey))
    this.#handling = this.#open(this.#keys)
    await this.#handling
  }

  /** Signs a JWT with its key for RS256. @param header in place of members of the header */
  async sign(
    claims: Readonly<Record<string, unknown>>,
    header: Partial<JWTHeaderParameters> = {},
  ): Promise<string> {
    await this.#ready()
    const key = (await this.#keys)?.find(({ alg }) => alg === 'RS256')
    if (key?.kid === undefined) throw new Error('the provider has no key for RS256')
    const { kid } = key
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'RS256', kid, ...header })
      .sign(await importJWK(key, 'RS256'))
  }

  #ready(): Promise<Handler> {
    this.#keys ??= firstKeys()
    return (this.#handling ??= this.#open(this.#keys))
  }

  async #open(keys: Promise<readonly JWK[]>): Promise<Handler> {
    const { default: OidcProvider } = await import('oidc-provider')
    const { default: Adapter } = await import('oidc-provider/lib/adapters/memory_adapter.js')
    const provider = new OidcProvider(this.issuer, {
      ...PROVIDER_SETTINGS,
      clients: METHODS.flatMap((method) => ALGORITHMS.map((alg) => clientOf(method, alg, this.#options))),
      claims: {
        openid: ['sub'],
        email: ['email', 'email_verified'],
        profile: ['name', 'memberOf', 'realm_access', 'https://acme.example/roles'],
      },
      conformIdTokenClaims: this.#options.claimsInIdToken === false,
      findAccount: (_context: unknown, sub: string) => {
        const account = this.accounts.get(sub)
        return account === undefined ? undefined : { accountId: sub, claims: () => ({ sub, ...account }) }
      },
      jwks: { keys: await keys },
      features: {
        revocation: { enabled: true },
        backchannelLogout: { enabled: true },
        ...this.#options.features,
      },
      // The provider's own dispatcher refuses loopback addresses.
      fetch: (url: string, { dispatcher: _dispatcher, ...init }: Record<string, unknown>) => {
        this.sends(String(init.body))
        return fetch(url, init)
      },
      cookies: { keys: ['cookies of a test'] },
      enabledJWA: { idTokenSigningAlgValues: this.#options.idTokenAlgorithms ?? ALGORITHMS },
      // The default store keeps 1,000 entries, and is lost with a change of the keys.
      adapter: (model: string) => new Adapter(model, this.#storage),
      renderError: (context: { body: string; type: string }, out: { error: string }) => {
        context.type = 'text/plain'
        context.body = `error page of the provider: ${out.error}`
      },
    })
    // It reads X-Forwarded-Proto.
    provider.proxy = this.#options.name !== undefined
    return provider.callback()
  }

  config(more: Partial<OidcConfig> = {}): OidcConfig {
    const { clientAuth = 'client_secret_basic' } = more
    return {
      ...OIDC_DEFAULTS,
      issuer: this.issuer,
      clientId: `${clientAuth ?? 'client_secret_basic'}-RS256`,
      clientSecret: clientAuth === 'none' ? null : CLIENT_SECRET,
      clientAuth,
      scopes: ['openid', 'email', 'profile', 'offline_access'],
      redirectUri: this.#options.redirectUri,
      postLogoutRedirect: this.#options.postLogoutRedirect ?? null,
      ...more,
    }
  }

  /** Adds or changes a user. */
  user(name: string, claims: Account = {}): void {
    const email = `${name}@acme.example`
    this.accounts.set(name, { email, email_verified: true, name: 'A. User', ...claims })
  }

  count(path: string): number {
    return this.requestCounts.get(path) ?? 0
  }

  /** Stops listening, until `up`. */
  async down(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async up(): Promise<void> {
    const port = Number(new URL(this.issuer).port)
    this.#server.listen(port, '127.0.0.1')
    await once(this.#server, 'listening')
  }

  #serve(request: IncomingMessage, response: ServerResponse): void {
    const path = new URL(request.url ?? '', this.issuer).pathname
    this.requestCounts.set(path, this.count(path) + 1)
    if (this.instead?.(request, response) === true) return
    // Browsers of the tests know the port alone.
    request.headers.host = new URL(this.issuer).host
    if (this.#options.name !== undefined) request.headers['x-forwarded-proto'] = 'https'
    this.#ready().then(
      (handle) => handle(request, response),
      (cause: unknown) => response.destroy(cause instanceof Error ? cause : new Error(String(cause))),
    )
  }
}

/** Generating RSA keys is slow, so there are two sets of first keys, which the providers of a process use in turn. */
const made: Promise<JWK[]>[] = []
let turn = 0

function firstKeys(): Promise<JWK[]> {
  const set = turn++ % 2
  made[set] ??= onceARun(`provider-keys-${set}`, () => Promise.all(ALGORITHMS.map(newKey)))
  return made[set]
}

export async function newKey(alg: Algorithm): Promise<JWK> {
  const { privateKey } = await generateKeyPair(alg, { extractable: true })
  return { ...(await exportJWK(privateKey)), alg, use: 'sig', kid: randomUUID() }
}

export function clientOf(method: (typeof METHODS)[number], alg: Algorithm, options: ProviderOptions) {
  const { redirectUri, postLogoutRedirect, backchannelLogout } = options
  return {
    client_id: `${method}-${alg}`,
    ...(method === 'none' ? {} : { client_secret: CLIENT_SECRET }),
    token_endpoint_auth_method: method,
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    redirect_uris: [redirectUri],
    post_logout_redirect_uris: postLogoutRedirect === undefined ? [] : [postLogoutRedirect],
    ...(backchannelLogout && {
      backchannel_logout_uri: backchannelLogout.uri,
      backchannel_logout_session_required: backchannelLogout.session,
    }),
    id_token_signed_response_alg: alg,
    ...options.client,
  }
}
