/**
 * A small service of the kind that stands behind the gateway: trainings, in memory, over HTTP. It asks no one who is
 * calling; it believes the identity headers, as a service behind the gateway may. The demo and the tests start it.
 */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

interface Training {
  readonly id: string
  title: string
  readonly created_by: string | null
}

const MAX_BODY = 64 * 1024

/** Listens on a loopback port; 0 picks a free one. */
export async function startTrainingsService(port = 0): Promise<{ url: string; close(): Promise<void> }> {
  const trainings = new Map<string, Training>()
  for (const title of ['Forklift', 'First aid']) add(trainings, title, null)
  const server = createServer((request, response) => {
    answer(trainings, request, response).catch((error: unknown) => {
      json(response, 400, { error: error instanceof Error ? error.message : 'bad request' })
    })
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const { port: bound } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${bound}`, close: () => close(server) }
}

async function answer(trainings: Map<string, Training>, request: IncomingMessage, response: ServerResponse) {
  const path = (request.url ?? '/').split('?', 1)[0] ?? '/'
  if (path === '/v1/me') return json(response, 200, caller(request))
  if (path.startsWith('/docs/'))
    return text(response, 200, `The documentation of ${path.slice(6) || 'everything'}.\n`)
  if (path === '/v1/trainings') return collection(trainings, request, response)
  const id = /^\/v1\/trainings\/([^/]+)$/.exec(path)?.[1]
  const training = id === undefined ? undefined : trainings.get(id)
  if (training === undefined) return json(response, 404, { error: 'no such training' })
  return item(trainings, training, request, response)
}

async function collection(
  trainings: Map<string, Training>,
  request: IncomingMessage,
  response: ServerResponse,
) {
  if (request.method !== 'POST') return json(response, 200, { data: [...trainings.values()] })
  const user = request.headers['x-seatgate-user']
  return json(response, 201, add(trainings, await titleOf(request), typeof user === 'string' ? user : null))
}

async function item(
  trainings: Map<string, Training>,
  training: Training,
  request: IncomingMessage,
  response: ServerResponse,
) {
  if (request.method === 'DELETE') {
    trainings.delete(training.id)
    return response.writeHead(204).end()
  }
  if (request.method === 'PUT') training.title = await titleOf(request)
  return json(response, 200, training)
}

function add(trainings: Map<string, Training>, title: string, user: string | null): Training {
  const id = String(trainings.size + 1)
  const training = { id, title, created_by: user }
  trainings.set(id, training)
  return training
}

/** What the gateway says of the caller. */
function caller({ headers }: IncomingMessage) {
  const said = Object.entries(headers).filter(
    ([name]) => name.startsWith('x-seatgate-') || name === 'x-request-id',
  )
  return Object.fromEntries(said)
}

async function titleOf(request: IncomingMessage): Promise<string> {
  const body: unknown = JSON.parse(await read(request))
  if (typeof body === 'object' && body !== null && 'title' in body && typeof body.title === 'string')
    return body.title
  throw new Error('send {"title": "…"}')
}

async function read(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > MAX_BODY) throw new Error('too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

function json(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
}

function text(response: ServerResponse, status: number, body: string) {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body)
}

function close(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise((resolve) => server.close(() => resolve()))
}
