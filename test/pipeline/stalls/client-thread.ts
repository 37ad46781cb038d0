/** A client in a thread of its own: it makes and sends requests, so that the thread of the gateway does its own work alone. */

import { request } from 'node:http'
import { parentPort } from 'node:worker_threads'
import { type Described, worstRequests } from './worst-requests.ts'

/** A request to send. `body` is the text, or the name of one of {@link worstRequests}. */
export interface Sent {
  readonly port: number
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | null | { readonly of: Described; readonly name: string }
}

export interface Received {
  readonly status: number
  readonly bytes: number
  readonly head: string
}

parentPort?.on('message', async (sent: Sent) => parentPort?.postMessage(await send(sent)))

function send({ port, method, path, headers, body }: Sent): Promise<Received> {
  const worst =
    body === null || typeof body === 'string'
      ? null
      : worstRequests(body.of).find(({ name }) => name === body.name)
  const text = typeof body === 'string' ? body : (worst?.body?.() ?? null)
  return new Promise((resolve, reject) => {
    const length = text === null ? {} : { 'content-length': Buffer.byteLength(text) }
    const sending = request({ port, method, path, headers: { ...headers, ...length } }, (response) => {
      let [bytes, head] = [0, '']
      response.on('data', (chunk: Buffer) => {
        if (bytes === 0) head = chunk.toString('latin1', 0, 300)
        bytes += chunk.length
      })
      response.on('end', () => resolve({ status: response.statusCode ?? 0, bytes, head }))
      response.on('error', reject)
    })
    sending.on('error', reject)
    sending.end(text ?? undefined)
  })
}
