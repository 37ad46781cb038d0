/**
 * The upstream in Node.js: small JSON, as fast as Node.js can, and the sizes of `answers.ts`. Its arguments
 * are ports: by TLS on the second one, and with the responses of the mixed workload on the third.
 */

import { randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { CERTIFICATES } from '../../test/support/servers/tls.ts'
import { filler, SIZES, SMALL } from '../answers.ts'
import { CONTENT_TYPES, mixedResponses, VARIABLES, WRITTEN } from '../mixed/responses.ts'

const PREFIX = '/v1/sizes/'
const sized = new Map(Object.entries(SIZES).map(([name, size]) => [PREFIX + name, filler(size)]))

/** Once the body has arrived. */
const answer: RequestListener = (request, response) => {
  const body = sized.get(request.url ?? '') ?? SMALL
  request.resume()
  if (request.method === 'GET') send(response, body)
  else request.once('end', () => send(response, body))
}

function send(response: ServerResponse, body: string): void {
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(body.length)])
  response.end(body)
}

const responses = mixedResponses()

/** Reads are selected by target; writes respond once the body has arrived. */
function answerMixed(request: IncomingMessage, response: ServerResponse): void {
  request.resume()
  const { method, url = '' } = request
  if (method !== 'GET') return void request.once('end', () => send(response, WRITTEN))
  const { body, extension, headers } = responses[hashOf(url) % responses.length] ?? { body: WRITTEN }
  response.writeHead(200, [
    'Content-Type',
    CONTENT_TYPES[extension ?? 'json'],
    'Content-Length',
    String(body.length),
    ...[...(headers ?? [])].flatMap(([name, value]) => [name, filledIn(value)]),
  ])
  response.end(body)
}

function hashOf(text: string): number {
  let hash = 0
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) >>> 0
  return hash
}

let answered = 0

function filledIn(value: string): string {
  if (!value.includes('$')) return value
  const own = [randomBytes(16).toString('hex'), `${Date.now() / 1000}`, `${answered++}`]
  return VARIABLES.reduce((text, variable, i) => text.replace(variable, own[i] ?? ''), value)
}

const host = '127.0.0.1'
const keepAliveTimeout = 600_000
const [port, tlsPort, mixedPort] = process.argv.slice(2).map(Number)
createServer({ keepAliveTimeout }, answer).listen({ host, port, backlog: 4096 })
if (tlsPort !== undefined)
  createTlsServer({ ...CERTIFICATES.server, keepAliveTimeout }, answer).listen({ host, port: tlsPort })
if (mixedPort !== undefined) createServer({ keepAliveTimeout }, answerMixed).listen({ host, port: mixedPort })
