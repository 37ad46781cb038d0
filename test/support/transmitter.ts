/** A transmitter of events (Shared Signals Framework 1.0): a real server with keys and metadata, which pushes what a test says. */

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import { type CryptoKey, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose'
import type { Test } from 'tap'
import { Client } from './client.ts'
import { listen } from './listen.ts'

type Claims = Readonly<Record<string, unknown>>

const CAEP = 'https://schemas.openid.net/secevent/caep/event-type/'
const RISC = 'https://schemas.openid.net/secevent/risc/event-type/'

export const EVENTS = {
  sessionRevoked: `${CAEP}session-revoked`,
  claimsChange: `${CAEP}token-claims-change`,
  credentialChange: `${CAEP}credential-change`,
  disabled: `${RISC}account-disabled`,
  enabled: `${RISC}account-enabled`,
  purged: `${RISC}account-purged`,
  verification: 'https://schemas.openid.net/secevent/ssf/event-type/verification',
} as const

export class Transmitter {
  readonly issuer: string
  readonly keys: JWK[] = []
  /** Members of the metadata in place of others; undefined removes one. */
  metadata: Record<string, unknown> = {}
  key: CryptoKey | null = null
  /** Requests by path. */
  readonly requests = new Map<string, number>()
  audience = 'https://gw.example'

  private constructor(issuer: string) {
    this.issuer = issuer
  }

  static async start(t: Test, path = ''): Promise<Transmitter> {
    const server = createServer((request, response) => {
      const at = request.url ?? ''
      transmitter.requests.set(at, (transmitter.requests.get(at) ?? 0) + 1)
      const body = transmitter.#answer(at)
      response.statusCode = body === null ? 404 : 200
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(body))
    })
    const transmitter = new Transmitter(`http://127.0.0.1:${await listen(t, server)}${path}`)
    await transmitter.newKey('first')
    return transmitter
  }

  get jwksUri(): string {
    return `${new URL(this.issuer).origin}/keys`
  }

  /** Publishes an ES256 key under this name, and signs with it from now on. */
  async newKey(kid: string): Promise<void> {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
    this.keys.push({ ...(await exportJWK(publicKey)), kid, alg: 'ES256', use: 'sig' })
    this.key = privateKey
  }

  claims(type: string, subject: unknown, more: Claims = {}): Claims {
    return {
      iss: this.issuer,
      aud: this.audience,
      jti: randomUUID(),
      iat: Math.floor(Date.now() / 1000),
      sub_id: subject,
      events: { [type]: { event_timestamp: Math.floor(Date.now() / 1000) } },
      ...more,
    }
  }

  /** @param header in place of members of the header */
  sign(claims: Claims, header: Claims = {}): Promise<string> {
    if (this.key === null) throw new Error('the transmitter has no key')
    const kid = this.keys.at(-1)?.kid ?? ''
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'secevent+jwt', kid, ...header })
      .sign(this.key)
  }

  /** Pushes an event to the address. */
  async push(url: string, type: string, subject: unknown, more: Claims = {}) {
    return pushed(url, await this.sign(this.claims(type, subject, more)))
  }

  #answer(path: string): unknown {
    const { origin, pathname } = new URL(this.issuer)
    if (path === '/keys') return { keys: this.keys }
    if (path !== `/.well-known/ssf-configuration${pathname === '/' ? '' : pathname}`) return null
    return { spec_version: '1_0', issuer: this.issuer, jwks_uri: `${origin}/keys`, ...this.metadata }
  }
}

/** Sends a token as an event. @param headers in place of others */
export async function pushed(url: string, token: string, headers: Readonly<Record<string, string>> = {}) {
  const { port, pathname } = new URL(url)
  const client = new Client(Number(port))
  const fields = { 'content-type': 'application/secevent+jwt', accept: 'application/json', ...headers }
  const answer = await client.send('POST', pathname, fields, token).finally(() => client.close())
  return { status: answer.status, headers: answer.headers, json: answer.body === '' ? null : answer.json }
}
