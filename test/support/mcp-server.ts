/** A server of the Model Context Protocol with the official package, for tests and the demo. */

import type { RequestListener } from 'node:http'
import { Readable } from 'node:stream'
import type { ReadableStream } from 'node:stream/web'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'

export interface SampleServer {
  readonly listener: RequestListener
  /** Names of the tools that were called, in order. */
  readonly called: string[]
  /** Names of the calls of `wait` that were cancelled. */
  readonly cancelled: string[]
  /** Tells its subscribers that the list of tools has changed. */
  toolsChanged(): void
}

const text = (value: string) => ({ content: [{ type: 'text' as const, text: value }] })

/** Two tools, one that lasts until it is cancelled, a prompt and a resource. */
export function sampleServer(): SampleServer {
  const called: string[] = []
  const cancelled: string[] = []
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'sample', version: '1.0.0' })
    const tool = (name: string, answer: string) =>
      server.registerTool(name, { description: `Answers ${answer}.` }, async () => {
        called.push(name)
        return text(answer)
      })
    tool('get_weather', 'sun')
    tool('delete_user', 'gone')
    server.registerTool('wait', { description: 'Waits until it is cancelled.' }, async (context) => {
      called.push('wait')
      const { signal, notify, _meta: { progressToken } = {} } = context.mcpReq
      if (progressToken !== undefined)
        await notify({ method: 'notifications/progress', params: { progressToken, progress: 1 } })
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      cancelled.push('wait')
      return text('cancelled')
    })
    server.registerPrompt('review', { description: 'A review.' }, async () => ({
      messages: [{ role: 'user' as const, content: { type: 'text' as const, text: 'Review it.' } }],
    }))
    server.registerResource('handbook', 'docs://handbook/start', {}, async (uri) => ({
      contents: [{ uri: uri.href, text: 'Welcome.' }],
    }))
    return server
  })
  return {
    listener: listenerOf((request) => handler.fetch(request)),
    called,
    cancelled,
    toolsChanged: () => handler.notify.toolsChanged(),
  }
}

function listenerOf(fetch: (request: Request) => Promise<Response>): RequestListener {
  return async (request, response) => {
    const { method = 'GET', url = '/', rawHeaders } = request
    const headers = new Headers()
    for (let i = 0; i < rawHeaders.length; i += 2)
      headers.append(rawHeaders[i] ?? '', rawHeaders[i + 1] ?? '')
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    const body = chunks.length === 0 ? null : Buffer.concat(chunks)
    const answer = await fetch(
      new Request(`http://${request.headers.host ?? 'localhost'}${url}`, {
        method,
        headers,
        body,
        signal: gone.signal,
      }),
    )
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    if (answer.body === null) response.end()
    else
      Readable.fromWeb(answer.body as ReadableStream)
        .on('error', () => response.destroy())
        .pipe(response)
  }
}
