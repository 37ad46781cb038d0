/** The upstream of a fleet: answers every request with success. */

import { createServer } from 'node:http'
import type { Test } from 'tap'
import { listen } from '../support/listen.ts'

/** Returns its URL. Keeps nothing of the requests, so that its memory does not grow. */
export async function startUpstream(t: Test): Promise<string> {
  const server = createServer((request, response) => {
    request.resume()
    response.end('yes')
  })
  return `http://127.0.0.1:${await listen(t, server)}`
}
