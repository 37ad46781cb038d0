/** A peer with wrong answers is detected, by real requests to real servers. */

import { once } from 'node:events'
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import { faultsOf } from '../../bench/check.ts'
import type { Peer, Setup } from '../../bench/peers/peer.ts'
import { Verifier } from '../../bench/servers/verify.ts'
import { makeWorld, type World } from '../../bench/world.ts'
import { listen } from '../support/listen.ts'
import { serverFolder } from '../support/servers/folder.ts'

const folder = serverFolder(t, 'check')
const world = await makeWorld(join(folder, 'world'))

type Answers = (setup: Setup, request: IncomingMessage, response: ServerResponse) => unknown

/** A peer in this process. */
function peerOf(answers: Answers, authorises = true): Peer {
  return {
    name: 'test',
    label: 'test',
    authorises,
    available: () => null,
    start: async (setup, ending) => {
      const server = createServer((incoming, response) => answers(setup, incoming, response))
      return { port: await listen(ending.t, server), pids: [process.pid], startedIn: 0 }
    },
  }
}

function forward({ upstream }: Setup, { url }: IncomingMessage, response: ServerResponse): void {
  const sent = request({ host: '127.0.0.1', port: upstream.port, path: url, agent: false }).end()
  sent.on('response', (answer) => {
    response.writeHead(answer.statusCode ?? 0)
    answer.pipe(response)
  })
}

const verifierOf = ({ secret }: World) =>
  new Verifier({
    secret,
    tenant: 'acme',
    space: 's1',
    permission: 'trainings:list',
    permissions: { 'Role 0': ['trainings:list'] },
  })

t.test('a peer that allows every request', async (t) => {
  const faults = await faultsOf(peerOf(forward), world, join(folder, 'all'))
  t.equal(faults.length, 7, 'every invalid request is a fault, and no valid one')
  t.match(faults[0], /^no token: 200, forwarded$/)
  t.same(await faultsOf(peerOf(forward, false), world, join(folder, 'bare')), [], 'a bare proxy may')
})

t.test('a peer that responds without the upstream', async (t) => {
  const alone: Answers = (_setup, _request, response) => response.end('{}')
  t.match(await faultsOf(peerOf(alone, false), world, join(folder, 'alone')), [
    /^a good token: 200, not forwarded$/,
  ])
})

t.test('a peer whose cache ignores which token it verified', async (t) => {
  let known = false
  const verifier = verifierOf(world)
  const lax: Answers = async (setup, incoming, response) => {
    const { status } = await verifier.check(incoming.headers.authorization)
    known ||= status === 200
    if (known && incoming.headers.authorization !== undefined) return forward(setup, incoming, response)
    return response.writeHead(status === 200 ? 500 : status).end()
  }
  const faults = await faultsOf(peerOf(lax), world, join(folder, 'lax'))
  t.match(faults, [/signed by another key, later: 200, forwarded$/])
})

t.test('a peer that decides after forwarding', async (t) => {
  const late: Answers = async (setup, incoming, response) => {
    const { status } = await verifierOf(world).check(incoming.headers.authorization)
    const sent = request({ host: '127.0.0.1', port: setup.upstream.port, path: '/', agent: false }).end()
    const [answer] = (await once(sent, 'response')) as [IncomingMessage]
    answer.resume()
    response.writeHead(status).end()
  }
  const faults = await faultsOf(peerOf(late), world, join(folder, 'late'))
  t.equal(faults.length, 7)
  t.match(faults[0], /^no token: 401, forwarded$/)
})

t.test('the verifier of the Node.js peers has the right answers', async (t) => {
  const verifier = verifierOf(world)
  const right: Answers = async (setup, incoming, response) => {
    const { status } = await verifier.check(incoming.headers.authorization)
    return status === 200 ? forward(setup, incoming, response) : response.writeHead(status).end()
  }
  t.same(await faultsOf(peerOf(right), world, join(folder, 'right')), [])
})
