/** The parts of a client's request that decisions and logs use. */

import { randomUUID } from 'node:crypto'
import type { ClientRequest } from '../http/server/client-request.ts'
import { fieldName } from '../http/wire/field-name.ts'
import type { FieldTable } from '../http/wire/field-table.ts'
import type { AuthorizationRequest, BrowserContext, Credentials } from '../model/authorization-request.ts'
import { peerAddress, type TrustedProxies } from '../proxy/forwarded.ts'

const API_KEY = fieldName('x-api-key')
const AUTHORIZATION = fieldName('authorization')
const COOKIE = fieldName('cookie')
const SPACE = fieldName('space')
const REQUEST_ID_FIELD = fieldName('x-request-id')

export function authorizationRequest(request: ClientRequest): AuthorizationRequest {
  const { method, url, host, section } = request
  return {
    method,
    target: url,
    host,
    credentials: credentialsOf(section.fields),
    browser: new RequestContext(request),
  }
}

/** Collects the field lines with credentials. It does not check them. */
export function credentialsOf(fields: FieldTable): Credentials {
  return {
    apiKey: fields.values(API_KEY),
    authorization: fields.values(AUTHORIZATION),
    cookie: fields.values(COOKIE),
    space: fields.values(SPACE),
  }
}

/** Only sessions need the fields: they are not read before that. */
class RequestContext implements BrowserContext {
  readonly #request: ClientRequest

  constructor(request: ClientRequest) {
    this.#request = request
  }

  get method(): string {
    return this.#request.method
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders
  }

  get upgrade(): boolean {
    return this.#request.upgrade !== null
  }
}

/** Ids of this form can't inject into logs, header fields and problem documents. */
const REQUEST_ID = /^[A-Za-z0-9._~-]{1,128}$/

/** The id that a trusted proxy sent; otherwise a new one. */
export function requestIdOf({ section, socket }: ClientRequest, trustedProxies: TrustedProxies): string {
  if (!trustedProxies.has(peerAddress(socket.remoteAddress))) return randomUUID()
  const [received, ...others] = section.fields.values(REQUEST_ID_FIELD)
  const isValid = received !== undefined && others.length === 0 && REQUEST_ID.test(received)
  return isValid ? received : randomUUID()
}
