/**
 * What callers have open at the gateways of a fleet: WebSockets, downloads, streams of events, and requests that wait for
 * their response. All of it lasts until the gateway or the test cuts it.
 */

import type { ServerResponse } from 'node:http'
import type { Test } from 'tap'
import type { OpenCounts } from '../../seats-admin/model/revocation.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { sendHandshake, startWebSocketUpstream } from '../websocket/support.ts'
import { SPACE } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

export type Credential = Readonly<Record<string, string>>

/** What these requests need. */
export const OPENING = ['trainings:list', 'decisions:list']

const ROUTES = [
  'GET /v1/trainings: trainings:list',
  'GET /v1/live: trainings:list',
  'GET /v1/downloads/{id}: trainings:list',
  'GET /v1/waiting/{id}: trainings:list',
]

export const bearing = (token: string): Credential => ({ authorization: `Bearer ${token}`, space: SPACE })

/** One exchange that is open. */
export interface OpenExchange {
  readonly kind: keyof OpenCounts
  readonly isOpen: boolean
  /** Resolves with why it was cut: a code; '' if the end does not tell. Rejects if it has ended in any other way. */
  cut(): Promise<string>
  /** Resolves once a byte has passed from the upstream to the client. */
  passes(): Promise<void>
}

export type OpenUpstream = Awaited<ReturnType<typeof startOpenUpstream>>

/** An upstream whose downloads do not end, and that does not answer what waits. */
export async function startOpenUpstream(t: Test) {
  /** Path → the response that is open. */
  const responses = new Map<string, ServerResponse>()
  let opened = 0
  const { url: target } = await startWebSocketUpstream(t, {
    serve: ({ url = '' }, response) => {
      if (url === '/v1/trainings') return void response.end('yes')
      responses.set(url, response)
      if (url.startsWith('/v1/downloads/')) response.writeHead(200).write('begun')
    },
  })
  const responseTo = (path: string) => until(() => responses.get(path), `${path} at the upstream`)

  async function webSocket({ port }: FleetGateway, credential: Credential): Promise<OpenExchange> {
    const client = sendHandshake(port, '/v1/live', linesOf(credential))
    t.teardown(() => client.close())
    await client.opened()
    let texts = 0
    return {
      kind: 'websockets',
      get isOpen() {
        return !client.closed && client.closeFrame === undefined
      },
      async cut() {
        await until(() => client.closeFrame !== undefined || client.closed, 'the end of a WebSocket')
        const { payload = Buffer.alloc(0) } = client.closeFrame ?? {}
        return payload.subarray(2).toString()
      },
      async passes() {
        const text = `text ${++texts}`
        await client.sendText(text).receives(text)
      },
    }
  }

  async function download({ port }: FleetGateway, credential: Credential): Promise<OpenExchange> {
    const path = `/v1/downloads/${++opened}`
    const client = new RawClient(port).send(getting(path, credential))
    t.teardown(() => client.close())
    await client.until('begun')
    const response = await responseTo(path)
    let parts = 0
    return {
      kind: 'streams',
      get isOpen() {
        return !client.isOver
      },
      async cut() {
        await until(() => client.isOver, 'the end of a download')
        if (client.received.endsWith('0\r\n\r\n')) throw new Error('the download looks complete')
        return ''
      },
      async passes() {
        const part = `part ${++parts},`
        response.write(part)
        await client.until(part)
      },
    }
  }

  async function waiting({ port }: FleetGateway, credential: Credential): Promise<OpenExchange> {
    const path = `/v1/waiting/${++opened}`
    const client = new RawClient(port).send(getting(path, credential))
    t.teardown(() => client.close())
    const response = await responseTo(path)
    return {
      kind: 'requests',
      get isOpen() {
        return !client.isOver && client.received === ''
      },
      async cut() {
        const code = /"code":"(\w+)"/
        return code.exec(await client.until(code))?.[1] ?? ''
      },
      async passes() {
        response.end('answered')
        await client.until('answered')
      },
    }
  }

  async function events({ port }: FleetGateway, credential: Credential): Promise<OpenExchange> {
    const client = new RawClient(port).send(
      getting('/v1/decisions', { ...credential, accept: 'text/event-stream' }),
    )
    t.teardown(() => client.close())
    await client.until('text/event-stream')
    return {
      kind: 'streams',
      get isOpen() {
        return !client.isOver && !client.received.endsWith('0\r\n\r\n')
      },
      async cut() {
        await client.until('0\r\n\r\n')
        return ''
      },
      async passes() {
        const before = client.received.length
        const other = new RawClient(port).send(getting('/v1/trainings', credential))
        await other.until('yes')
        other.close()
        await until(() => client.received.length > before, 'an event')
      },
    }
  }

  return {
    upstream: { target, routes: ROUTES },
    /** One of each kind at the gateway. Streams of events need `decisions:list`. */
    open: (gateway: FleetGateway, credential: Credential): Promise<readonly OpenExchange[]> =>
      Promise.all([webSocket, download, waiting, events].map((each) => each(gateway, credential))),
    webSocket,
    download,
    waiting,
  }
}

/** How many of each kind there are. */
export function countsOf(exchanges: readonly OpenExchange[]): OpenCounts {
  const counts = { websockets: 0, streams: 0, requests: 0 }
  for (const { kind } of exchanges) counts[kind]++
  return counts
}

function linesOf(credential: Credential): string[] {
  return Object.entries(credential).map(([name, value]) => `${name}: ${value}`)
}

export function getting(path: string, credential: Credential): string {
  return headOf('GET', path, credential)
}

/** The head of a request. */
export function headOf(method: string, path: string, fields: Credential): string {
  return [`${method} ${path} HTTP/1.1`, 'Host: gw.example', ...linesOf(fields), '', ''].join('\r\n')
}
