/**
 * An identity provider for the demo: a certified OpenID provider (`oidc-provider`) on loopback, at which one signs in by choosing
 * a user, without a password. It is loaded with the first request, so that the demo starts quickly.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { randomBytes } from 'node:crypto'
import { exportJWK, generateKeyPair } from 'jose'
import type OidcProvider from 'oidc-provider'
import type { OidcConfig } from '../../src/config/config.ts'

export interface SampleUser {
  readonly sub: string
  readonly name: string
  /** Names of Seats. */
  readonly seats: readonly string[]
}

export interface SampleProvider {
  /** `oidc` of the tenant. */
  readonly oidc: OidcConfig
  close(): Promise<void>
}

const CLIENT = 'seatgate-demo'
const SCOPES = ['openid', 'email', 'profile']
const ALGORITHM = 'ES256'
const PATH = '/choose-user/'

/** @param redirectUri of the gateway @param afterLogout where the browser goes after signing out here */
export async function startSampleProvider(
  users: readonly SampleUser[],
  { redirectUri, afterLogout }: { readonly redirectUri: string; readonly afterLogout: string },
): Promise<SampleProvider> {
  let opening: Promise<Serve> | null = null
  const server = createServer((request, response) => {
    opening ??= withoutWarnings(() => open(issuer, users, { redirectUri, afterLogout }))
    opening
      .then((serve) => serve(request, response))
      .catch((cause: unknown) => {
        response.statusCode = 500
        response.end(
          `The sample provider failed: ${cause instanceof Error ? cause.message : String(cause)}\n`,
        )
      })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    // Another host than the gateway's, localhost: browsers do not separate cookies by port.
    server.listen(0, '127.0.0.1', resolve)
  })
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    oidc: {
      issuer,
      clientId: CLIENT,
      clientSecret: null,
      clientAuth: 'none',
      scopes: SCOPES,
      seatsClaim: 'memberOf',
      redirectUri,
      allowInsecure: true,
      endpointHosts: [],
      acceptProviderTokens: false,
      audience: [],
      postLogoutRedirect: afterLogout,
      sessionLifetime: 8 * 3_600_000,
      origins: [],
      tenantClaim: null,
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** The package warns that what it stores ends with the process, which is what a demo wants, and of versions of Node.js. */
async function withoutWarnings<V>(work: () => Promise<V>): Promise<V> {
  const { warn } = console
  console.warn = () => {}
  try {
    return await work()
  } finally {
    console.warn = warn
  }
}

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

async function open(
  issuer: string,
  users: readonly SampleUser[],
  { redirectUri, afterLogout }: { readonly redirectUri: string; readonly afterLogout: string },
): Promise<Serve> {
  const { default: Provider } = await import('oidc-provider')
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
  const provider: OidcProvider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT,
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        redirect_uris: [redirectUri],
        post_logout_redirect_uris: [afterLogout],
        id_token_signed_response_alg: ALGORITHM,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'memberOf'] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, sub: string) => {
      const user = users.find((each) => each.sub === sub)
      return user === undefined ? undefined : { accountId: sub, claims: () => claimsOf(user) }
    },
    loadExistingGrant: grantEverything,
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: ALGORITHM, use: 'sig', kid: 'demo' }] },
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: () => true,
    cookies: { keys: [randomBytes(32).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => PATH + uid },
    ttl: {
      AccessToken: 3600,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 86_400,
    },
  })
  const handle = provider.callback()
  return (request, response) =>
    request.url?.startsWith(PATH) === true
      ? chooseUser(provider, users, request, response)
      : handle(request, response)
}

function claimsOf({ sub, name, seats }: SampleUser) {
  return { sub, name, email: `${sub}@acme.example`, email_verified: true, memberOf: seats }
}

/** What the provider passes to `loadExistingGrant`, as far as it is used. */
interface GrantContext {
  readonly oidc: {
    readonly provider: { readonly Grant: new (of: { clientId: string; accountId: string }) => Grant }
    readonly client: { readonly clientId: string }
    readonly session: { readonly accountId: string }
  }
}

interface Grant {
  addOIDCScope(scope: string): void
  save(): Promise<unknown>
}

/** There is nothing to consent to: the one client is the demo's own. */
async function grantEverything({ oidc }: GrantContext): Promise<Grant> {
  const { clientId } = oidc.client
  const grant = new oidc.provider.Grant({ clientId, accountId: oidc.session.accountId })
  grant.addOIDCScope(SCOPES.join(' '))
  await grant.save()
  return grant
}

async function chooseUser(
  provider: OidcProvider,
  users: readonly SampleUser[],
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  // Rejects for a browser that did not begin this sign-in.
  await provider.interactionDetails(request, response)
  if (request.method !== 'POST') return page(users, response)
  const chosen = new URLSearchParams(await text(request)).get('user')
  const user = users.find(({ sub }) => sub === chosen)
  if (user === undefined) return page(users, response)
  await provider.interactionFinished(request, response, { login: { accountId: user.sub } })
}

function page(users: readonly SampleUser[], response: ServerResponse): void {
  const buttons = users.map(
    ({ sub, name, seats }) =>
      `<p><button name="user" value="${sub}">${name}</button> <small>Seats: ${seats.join(', ')}</small></p>`,
  )
  response.setHeader('content-type', 'text/html; charset=utf-8')
  response.setHeader('cache-control', 'no-store')
  response.end(
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">' +
      '<meta name="color-scheme" content="light dark"><title>Sample provider</title>' +
      '<main><h1>Sample provider</h1><p>Choose the user to sign in as. There are no passwords.</p>' +
      `<form method="post">${buttons.join('')}</form></main></html>`,
  )
}
