/**
 * An identity provider for the demo: a certified OpenID provider (`oidc-provider`) on loopback, at which one signs in by choosing
 * a user, without a password. It is loaded with the first request, so that the demo starts quickly.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { randomBytes } from 'node:crypto'
import type OidcProvider from 'oidc-provider'
import type { OidcConfig } from '../../src/config/config.ts'
import { clientOf, newKey, OIDC_DEFAULTS, PROVIDER_SETTINGS } from '../oidc/provider.ts'
import { serve } from './loopback.ts'

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
  let opening: Promise<Handle> | null = null
  // At another host than the gateway, localhost: browsers do not separate cookies by port.
  const { url: issuer, close } = await serve((request, response) => {
    opening ??= withoutWarnings(() => open(issuer, users, { redirectUri, afterLogout }))
    opening
      .then((handle) => handle(request, response))
      .catch((cause: unknown) => {
        response.statusCode = 500
        response.end(
          `The sample provider failed: ${cause instanceof Error ? cause.message : String(cause)}\n`,
        )
      })
  })
  return {
    oidc: {
      ...OIDC_DEFAULTS,
      issuer,
      clientId: CLIENT,
      clientSecret: null,
      clientAuth: 'none',
      scopes: SCOPES,
      redirectUri,
      postLogoutRedirect: afterLogout,
    },
    close,
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

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void

async function open(
  issuer: string,
  users: readonly SampleUser[],
  { redirectUri, afterLogout }: { readonly redirectUri: string; readonly afterLogout: string },
): Promise<Handle> {
  const { default: Provider } = await import('oidc-provider')
  const provider: OidcProvider = new Provider(issuer, {
    ...PROVIDER_SETTINGS,
    clients: [
      {
        ...clientOf('none', ALGORITHM, { redirectUri, postLogoutRedirect: afterLogout }),
        client_id: CLIENT,
      },
    ],
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name', 'memberOf'] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, sub: string) => {
      const user = users.find((each) => each.sub === sub)
      return user === undefined ? undefined : { accountId: sub, claims: () => claimsOf(user) }
    },
    loadExistingGrant: grantEverything,
    jwks: { keys: [await newKey(ALGORITHM)] },
    cookies: { keys: [randomBytes(32).toString('hex')] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { readonly uid: string }) => PATH + uid },
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
