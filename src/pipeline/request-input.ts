/** The parts of a client's request that decisions and logs use. */

import { randomUUID } from 'node:crypto'
import type { ClientRequest } from '../http/server/client-request.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { mcpExchange } from '../http/server/mcp-exchange.ts'
import { fieldName } from '../http/wire/field-name.ts'
import type { FieldTable } from '../http/wire/field-table.ts'
import { detachedText } from '../lib/heap-size.ts'
import type {
  AuthorizationRequest,
  BrowserContext,
  Credentials,
  Preflight,
  RequestFields,
} from '../model/authorization-request.ts'
import type { McpCall } from '../model/mcp.ts'
import { peerAddress, type TrustedProxies } from '../proxy/forwarded.ts'

const API_KEY = fieldName('x-api-key')
const AUTHORIZATION = fieldName('authorization')
const COOKIE = fieldName('cookie')
const ORIGIN = fieldName('origin')
const REQUESTED_HEADERS = fieldName('access-control-request-headers')
const REQUESTED_METHOD = fieldName('access-control-request-method')
const SPACE = fieldName('space')
const REQUEST_ID_FIELD = fieldName('x-request-id')

export function authorizationRequest(exchange: Exchange): AuthorizationRequest {
  const { method, url, host, section } = exchange.request
  const context = new RequestContext(exchange)
  return {
    method,
    target: url,
    host,
    credentials: credentialsOf(section.fields),
    fields: context,
    browser: context,
  }
}

/** The same request with another call of the MCP server. */
export function callRequest(exchange: Exchange, call: McpCall): AuthorizationRequest {
  const request = authorizationRequest(exchange)
  const fields = requestFields(exchange)
  return { ...request, fields: { linesOf: (name) => fields.linesOf(name), call } }
}

/** The parts of the request that few decisions need. */
export function requestFields(exchange: Exchange): RequestFields {
  return new RequestContext(exchange)
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

/** Only sessions, tables with `cors` or `mcp`, and some sources of a space need these, which are read then. */
class RequestContext implements BrowserContext, RequestFields {
  readonly #exchange: Exchange

  constructor(exchange: Exchange) {
    this.#exchange = exchange
  }

  get #request(): ClientRequest {
    return this.#exchange.request
  }

  /** As in the response and the access log. */
  get requestId(): string {
    return this.#exchange.id
  }

  get call(): McpCall | undefined {
    return mcpExchange.get(this.#exchange)?.call ?? undefined
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

  get origins(): readonly string[] {
    return this.#request.section.fields.values(ORIGIN)
  }

  get preflight(): Preflight | null {
    const { fields } = this.#request.section
    const { method, origins } = this
    const methods = method === 'OPTIONS' && origins.length > 0 ? fields.values(REQUESTED_METHOD) : []
    return methods.length === 0 ? null : { origins, methods, headers: fields.values(REQUESTED_HEADERS) }
  }

  linesOf(name: string): readonly string[] | 'other spelling' {
    const { fields } = this.#request.section
    const wanted = fieldName(name)
    const lines: string[] = []
    for (let i = 0; i < fields.count; i++) {
      if (!fields.isSpelling(i, wanted)) continue
      if (fields.isOdd(i)) return 'other spelling'
      lines.push(fields.value(i))
    }
    return lines
  }
}

/** Ids of this form can't inject into logs, header fields and problem documents. */
const REQUEST_ID = /^[A-Za-z0-9._~-]{1,128}$/

export function isRequestId(text: string): boolean {
  return REQUEST_ID.test(text)
}

/** The id that one of the peers sent; otherwise a new one. */
export function requestIdOf({ section, socket }: ClientRequest, peers: TrustedProxies): string {
  if (!peers.has(peerAddress(socket.remoteAddress))) return randomUUID()
  const [received, ...others] = section.fields.values(REQUEST_ID_FIELD)
  const isValid = received !== undefined && others.length === 0 && isRequestId(received)
  // A slice would retain the whole request, with its credentials, for as long as the id is remembered.
  return isValid ? detachedText(received) : randomUUID()
}
