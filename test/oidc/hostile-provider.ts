/**
 * A provider with scripted responses: a real server with its own keys, for responses that a certified provider never
 * sends.
 */

import { createHash } from 'node:crypto'
import { createServer, type ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { Test } from 'tap'
import type { Page, Visitor } from '../sign-in/visitor.ts'
import { listen } from '../support/listen.ts'
import type { SignInWorld } from '../sign-in/world.ts'

export const CLIENT = 'seatgate'

interface Reply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  /** A string is sent as it is, anything else as JSON. */
  readonly body: unknown
}

type Answering = (form: URLSearchParams, headers: Readonly<Record<string, unknown>>) => Reply | null

export type Claims = Record<string, unknown>

export class HostileProvider {
  readonly issuer: string
  /** Changes to the discovery document; undefined removes a member. */
  metadata: Record<string, unknown> = {}
  keys: JWK[] = []
  /** Path → its response; null: no response. */
  readonly answers = new Map<string, Answering>()
  readonly requestCounts = new Map<string, number>()
  /** Forms received by the token endpoint. */
  readonly forms: URLSearchParams[] = []
  readonly #waiting: ServerResponse[] = []
  key: CryptoKey | null = null
  #kid = ''

  private constructor(issuer: string) {
    this.issuer = issuer
    this.answers.set('/.well-known/openid-configuration', () => ({ body: this.#discovery() }))
    this.answers.set('/jwks', () => ({ body: { keys: this.keys } }))
  }

  static async start(t: Test): Promise<HostileProvider> {
    const server = createServer(async (request, response) => {
      const path = new URL(request.url ?? '', 'http://nowhere').pathname
      provider.#serve(path, new URLSearchParams(await text(request)), request.headers, response)
    })
    const provider = new HostileProvider(`http://127.0.0.1:${await listen(t, server)}`)
    await provider.newKey('first')
    return provider
  }

  /**
   * A world whose tenant acme signs in at this provider. The provider does not send `iss`, so the tenant has a
   * callback of its own.
   */
  async takes(world: SignInWorld, more: Parameters<SignInWorld['configure']>[0] = {}): Promise<void> {
    const client = { clientId: CLIENT, clientSecret: null, clientAuth: null }
    const redirectUri = `${world.origin}/auth/oidc/callback/acme`
    await world.configure({ ...more, acme: { issuer: this.issuer, ...client, redirectUri, ...more.acme } })
  }

  /** Publishes an ES256 key under this name, and signs with it from now on. */
  async newKey(kid: string): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    this.keys.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' })
    this.key = privateKey
    this.#kid = kid
  }

  claims(more: Claims = {}): Claims {
    const now = Math.floor(Date.now() / 1000)
    return {
      iss: this.issuer,
      aud: CLIENT,
      sub: 'alice',
      iat: now,
      exp: now + 600,
      memberOf: ['Viewer'],
      ...more,
    }
  }

  /** Members that are undefined are omitted. */
  async sign(claims: Claims, header: Record<string, unknown> = {}, key = this.key): Promise<string> {
    if (key === null) throw new Error('no key')
    return new SignJWT(JSON.parse(JSON.stringify(claims)))
      .setProtectedHeader({ alg: 'ES256', kid: this.#kid, ...header } as { alg: string })
      .sign(key)
  }

  /** The token endpoint's response to any code or refresh token. */
  gives(idToken: string | null, more: Claims = {}): void {
    this.answers.set('/token', () => ({
      body: {
        access_token: ACCESS_TOKEN,
        token_type: 'Bearer',
        ...(idToken === null ? {} : { id_token: idToken }),
        ...more,
      },
    }))
  }

  /**
   * A sign-in. @param token its ID token: what makes it with the sign-in's nonce, or the claims that differ from those of an
   * ordinary one @param more members of the token response
   */
  async signIn(
    world: SignInWorld,
    token: Claims | ((nonce: string) => string | Promise<string>) = {},
    more: Claims = {},
    browser: Visitor = world.visitor(),
  ): Promise<Page> {
    const begun = await browser.begin()
    const parameters = new URL(begun.json.authorization_url).searchParams
    const nonce = parameters.get('nonce') ?? ''
    const idToken = await (typeof token === 'function'
      ? token(nonce)
      : this.sign(this.claims({ nonce, ...token })))
    world.secrets.add(idToken)
    this.gives(idToken, more)
    return browser.send(callbackOf(world, parameters.get('state') ?? ''))
  }

  /** Answers all pending requests with an error. */
  release(): void {
    for (const response of this.#waiting.splice(0)) response.writeHead(500).end()
  }

  count(path: string): number {
    return this.requestCounts.get(path) ?? 0
  }

  #discovery(): Record<string, unknown> {
    const at = (path: string) => `${this.issuer}${path}`
    return {
      issuer: this.issuer,
      authorization_endpoint: at('/authorize'),
      token_endpoint: at('/token'),
      jwks_uri: at('/jwks'),
      id_token_signing_alg_values_supported: ['ES256', 'RS256', 'HS256', 'none'],
      ...this.metadata,
    }
  }

  #serve(
    path: string,
    form: URLSearchParams,
    headers: Readonly<Record<string, unknown>>,
    response: ServerResponse,
  ): void {
    this.requestCounts.set(path, this.count(path) + 1)
    if (path === '/token') this.forms.push(form)
    const answer = this.answers.get(path)
    if (answer === undefined) return void response.writeHead(404).end()
    const reply = answer(form, headers)
    if (reply === null) return void this.#waiting.push(response)
    const { status = 200, body } = reply
    response.writeHead(status, { 'content-type': 'application/json', ...reply.headers })
    response.end(typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body))
  }
}

export const ACCESS_TOKEN = 'an-access-token-of-the-hostile-provider'

export function atHash(accessToken: string): string {
  return createHash('sha256').update(accessToken).digest().subarray(0, 16).toString('base64url')
}

export function callbackOf(
  world: SignInWorld,
  state: string,
  more: Readonly<Record<string, string>> = {},
): string {
  const query = new URLSearchParams({ code: 'a-code-of-the-hostile-provider', state, ...more })
  return `${world.origin}/auth/oidc/callback/acme?${query}`
}
