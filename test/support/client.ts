/** A client that speaks HTTP/1.1 as programs do. raw-client.ts writes bytes. */

import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import { Agent, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly rawHeaders: readonly string[]
  readonly trailers: NodeJS.Dict<string>
  readonly body: string
  /** The body, parsed; throws when it is no JSON. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of any shape
  readonly json: any
}

type HeaderInput = Record<string, string | string[]> | readonly string[]

/** Keeps one connection alive, so that the state after one answer meets the next request. */
export class Client {
  readonly #agent: Agent
  readonly #port: number

  constructor(port: number, connections = 1) {
    this.#port = port
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
  }

  /** Rejects if the answer of a built-in endpoint is not what the OpenAPI document says. */
  async send(
    method: string,
    path: string,
    headers: HeaderInput = {},
    body?: string | Buffer,
  ): Promise<Answer> {
    const answer = await this.#exchange(method, path, headers, body)
    if (!isBuiltIn(path)) return answer
    const type = Array.isArray(headers) ? '' : ((headers as Record<string, string>)['content-type'] ?? '')
    const sent = body === undefined ? {} : { sent: { type, body: String(body) } }
    const { assertConforms } = await import('./openapi.ts')
    const { status, headers: given, body: text } = answer
    assertConforms({ method, target: path, status, headers: given, body: text, ...sent })
    return answer
  }

  async #exchange(method: string, path: string, given: HeaderInput, sent?: string | Buffer): Promise<Answer> {
    const flat = Array.isArray(given) ? [...given] : (given as Record<string, string | string[]>)
    const headers = withLength(flat, this.#port, sent)
    const to = { port: this.#port, host: '127.0.0.1', agent: this.#agent }
    const outgoing = request({ ...to, method, path, headers })
    // After the head of the response, a fault of the connection is a fault of its body.
    outgoing.on('error', () => {}).end(sent)
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage]
    const { statusCode: status = 0, rawHeaders } = response
    const body = (await buffer(response)).toString()
    return {
      ...{ status, headers: response.headers, rawHeaders, trailers: response.trailers, body },
      get json() {
        return JSON.parse(body)
      },
    }
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** Headers and body of a request by the administrator. */
export function adminRequest(
  key: string,
  body?: unknown,
  space = 'admin',
): [Record<string, string>, string?] {
  const headers = { 'x-api-key': key, space }
  if (body === undefined) return [headers]
  return [{ ...headers, 'content-type': 'application/json' }, JSON.stringify(body)]
}

/** Whether the path may belong to a built-in endpoint. */
function isBuiltIn(path: string): boolean {
  return /^\/(?:v1|auth\/oidc|\.well-known\/seatgate)\//.test(path)
}

/** Node adds no length to a list of headers, and none to a GET. */
function withLength(
  headers: Record<string, string | string[]> | string[],
  port: number,
  body?: string | Buffer,
) {
  const length = body === undefined ? null : String(Buffer.byteLength(body))
  if (!Array.isArray(headers)) return length === null ? headers : { ...headers, 'content-length': length }
  return ['host', `127.0.0.1:${port}`, ...headers, ...(length === null ? [] : ['content-length', length])]
}
