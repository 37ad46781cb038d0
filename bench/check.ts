/**
 * A peer with wrong answers is disqualified, because its savings would not be comparable. Peers are checked
 * before the measurement, with an upstream that counts its requests.
 */

import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer, type IncomingMessage, request } from 'node:http'
import { listen } from '../test/support/listen.ts'
import { Ending } from './harness.ts'
import type { Peer } from './peers/peer.ts'
import { SPACE, seatName } from './names.ts'
import { token, type World } from './world.ts'

/** Milliseconds for a response. */
const TIMEOUT = 10_000

interface Check {
  readonly what: string
  readonly token: string | null
  readonly good: boolean
}

interface Answer {
  readonly status: number
  /** Whether the request reached the upstream. */
  readonly seen: boolean
}

/** Resolves with the errors in the peer's responses; none: it may be measured. */
export async function faultsOf(peer: Peer, world: World, folder: string): Promise<string[]> {
  mkdirSync(folder, { recursive: true })
  await using ending = new Ending()
  const upstream = { seen: 0 }
  const server = createServer((_request, response) => {
    upstream.seen++
    response.end('{}')
  })
  const port = await listen(ending.t, server)
  const setup = { world, folder, routes: 10, workers: 1, tls: false }
  const there = { port, origin: `http://127.0.0.1:${port}`, ca: null }
  const running = await peer.start({ ...setup, upstream: there }, ending)
  return await ask(peer, running.port, upstream, checks(peer, world))
}

function checks(peer: Peer, world: World): Check[] {
  const good = { what: 'a good token', token: token(world), good: true }
  if (!peer.authorises) return [good]
  const bad = (what: string, text: string | null) => ({ what, token: text, good: false })
  const [header = '', payload = ''] = good.token.split('.')
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url')
  return [
    bad('no token', null),
    bad('a token signed by another key', token(world, { secret: 'x'.repeat(64) })),
    bad('a token without its signature', `${header}.${payload}.`),
    bad('a token of algorithm none', `${none}.${payload}.`),
    bad('an expired token', token(world, { expiresIn: -30 })),
    bad('a token without an entry for the space', token(world, { hashPerm: [`s2:${seatName(0)}`] })),
    good,
    // Again after the valid token, whose cached verification must not admit another one.
    bad('a token signed by another key, later', token(world, { secret: 'y'.repeat(64) })),
    good,
  ]
}

async function ask(peer: Peer, port: number, upstream: { readonly seen: number }, all: readonly Check[]) {
  const faults: string[] = []
  for (const { what, token: text, good } of all) {
    const before = upstream.seen
    const status = await statusOf(port, text)
    const answer = { status, seen: upstream.seen > before }
    if (!isRight(peer, answer, good)) faults.push(`${what}: ${status}, ${answer.seen ? '' : 'not '}forwarded`)
  }
  return faults
}

/** The bare server of Node.js has no upstream. */
function isRight({ name }: Peer, { status, seen }: Answer, good: boolean): boolean {
  if (good) return status === 200 && (seen || name === 'node')
  return (status === 401 || status === 403) && !seen
}

async function statusOf(port: number, text: string | null): Promise<number> {
  const signal = AbortSignal.timeout(TIMEOUT)
  const headers = { Space: SPACE, ...(text === null ? {} : { Authorization: `Bearer ${text}` }) }
  const sent = request({
    host: '127.0.0.1',
    port,
    path: '/v1/trainings/7',
    headers,
    agent: false,
    signal,
  }).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode ?? 0
}
