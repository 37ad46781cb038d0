/**
 * One call, before a load of them: h2load reads no trailers, and a refused call of gRPC has the HTTP status
 * 200.
 */

import { once } from 'node:events'
import { connect } from 'node:http2'
import type { ReadRequest } from './read-requests.ts'

/** Milliseconds. */
const TIMEOUT = 10_000

/** Rejects if the call is not answered with its own message and `grpc-status: 0`. */
export async function checkCall(
  port: number,
  { path, headers }: ReadRequest,
  message: Buffer,
): Promise<void> {
  const session = connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false })
  session.on('error', () => {})
  try {
    const lines = headers.map((line) =>
      line.split(': ', 2).map((part, i) => (i === 0 ? part.toLowerCase() : part)),
    )
    const call = session.request({
      ...Object.fromEntries(lines),
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      te: 'trailers',
    })
    const parts: Buffer[] = []
    let status: unknown = 'none'
    call.on('response', (fields) => (status = fields['grpc-status'] ?? status))
    call.on('trailers', (fields) => (status = fields['grpc-status']))
    call.on('data', (part: Buffer) => parts.push(part))
    call.end(message)
    await once(call, 'close', { signal: AbortSignal.timeout(TIMEOUT) })
    if (status !== '0' || !Buffer.concat(parts).equals(message))
      throw new Error(`a call has grpc-status ${status}`)
  } finally {
    session.destroy()
  }
}
