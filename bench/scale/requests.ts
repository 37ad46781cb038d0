/** Sends a fixed number of requests in a fixed order. Every one must be allowed. */

import { Pool } from 'undici'

/** The headers in which requests differ. */
export interface Request {
  readonly authorization: string
  readonly space: string
}

export interface Load {
  readonly requests: readonly Request[]
  /** The number of requests: the list is repeated. */
  readonly total: number
  readonly connections: number
}

/** Resolves to the requests per second; rejects when one of them is not answered 200. */
export async function send(origin: string, { requests, total, connections }: Load): Promise<number> {
  const pool = new Pool(origin, { connections, pipelining: 1 })
  let sent = 0
  const sender = async () => {
    while (sent < total) {
      const request = requests[sent++ % requests.length]
      if (request !== undefined) await sendOne(pool, request)
    }
  }
  const begun = performance.now()
  try {
    await Promise.all(Array.from({ length: connections }, sender))
    return (total * 1000) / (performance.now() - begun)
  } finally {
    await pool.destroy()
  }
}

async function sendOne(pool: Pool, { authorization, space }: Request): Promise<void> {
  const options = { method: 'GET', path: '/v1/trainings/7', headers: { authorization, space } } as const
  const { statusCode, body } = await pool.request(options)
  if (statusCode === 200) return void (await body.dump())
  throw new Error(`a request was answered ${statusCode}: ${await body.text()}`)
}
