/**
 * A connection with HTTP/1.1 pipelining. While a process is stopped, these requests wait in its socket, so it reads them
 * before the announcements of writes when it continues.
 */

import { Client } from 'undici'
import type { Requester } from './answer-checker.ts'
import type { FleetGateway } from './gateway.ts'

export interface PipelinedConnection extends Requester {
  close(): Promise<void>
}

export function pipelinedConnection({ port }: FleetGateway): PipelinedConnection {
  const client = new Client(`http://127.0.0.1:${port}`, { pipelining: 10_000 })
  return {
    async ask(headers) {
      const { statusCode, body } = await client.request({ method: 'GET', path: '/v1/trainings', headers })
      const text = await body.text()
      return statusCode === 200 ? 'allow' : String(JSON.parse(text).code)
    },
    close: () => client.destroy(),
  }
}
