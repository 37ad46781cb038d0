/** Lists of requests for the load programs in Node.js. `wrk.lua` reads them for wrk. */

import { readFileSync } from 'node:fs'
import { NEW_TOKEN, type Requests } from './requests.ts'

export interface ReadRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly string[]
  readonly body: string
}

/** The requests in order, starting at one of them. Throws when the single-use tokens run out. */
export function* readRequests({ list, newTokens }: Requests, from: number): Generator<ReadRequest, never> {
  const requests = linesOf(list).map(requestOf)
  const tokens = newTokens === null ? [] : linesOf(newTokens.list)
  const isNew = requests.map(({ headers }) => headers.some((line) => line.includes(NEW_TOKEN)))
  const newIn = (count: number) => isNew.slice(0, count).filter(Boolean).length
  let token = Math.floor(from / requests.length) * newIn(requests.length) + newIn(from % requests.length)
  for (let number = from; ; number++) {
    const at = number % requests.length
    const request = requests[at]
    if (request === undefined) throw new Error('an empty list')
    yield isNew[at] ? withToken(request, tokens[token++]) : request
  }
}

function linesOf(file: string): string[] {
  return readFileSync(file, 'utf8').trimEnd().split('\n')
}

function requestOf(line: string): ReadRequest {
  const [method = '', path = '', size = '', ...headers] = line.split('\t')
  const length = Number(size)
  const framing = length > 0 ? [`Content-Length: ${length}`] : []
  return { method, path, headers: [...headers, ...framing], body: 'x'.repeat(length) }
}

function withToken(request: ReadRequest, token: string | undefined): ReadRequest {
  if (token === undefined) throw new Error('the tokens that are sent once are not enough')
  return { ...request, headers: request.headers.map((line) => line.replace(NEW_TOKEN, token)) }
}
