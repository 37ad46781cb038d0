/**
 * A small service of the kind that stands behind the gateway: trainings, in memory, over HTTP. It asks no one who is
 * calling; it believes the identity headers, as a service behind the gateway may. The demo and the tests start it.
 */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { json as jsonOf } from 'node:stream/consumers'
import { serve, type Serving } from './loopback.ts'

interface Training {
  readonly id: string
  title: string
  readonly created_by: string | null
}

export async function startTrainingsService(): Promise<Serving> {
  const trainings = new Map<string, Training>()
  for (const title of ['Forklift', 'First aid']) add(trainings, title, null)
  return serve((request, response) => {
    answer(trainings, request, response).catch((error: unknown) => {
      json(response, 400, { error: error instanceof Error ? error.message : 'bad request' })
    })
  })
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
  const body: unknown = await jsonOf(request)
  if (typeof body === 'object' && body !== null && 'title' in body && typeof body.title === 'string')
    return body.title
  throw new Error('send {"title": "…"}')
}

function json(response: ServerResponse, status: number, body: unknown) {
  response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
}

function text(response: ServerResponse, status: number, body: string) {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8' }).end(body)
}
