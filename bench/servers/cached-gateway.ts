/**
 * A gateway as teams write one in Node.js: rights are in Redis, each instance keeps what it has read for a
 * time, and a published message drops it. Without a time it keeps nothing, and is nginx' decision service.
 */

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { readFileSync } from 'node:fs'
import { Redis } from 'ioredis'
import type { CachedGatewaySetup } from '../staleness/staleness-peer.ts'

const { port, redis, keeps }: CachedGatewaySetup = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
const CHANNEL = 'changed'
const store = new Redis(redis)
const messages = new Redis(redis)
const cache = new Map<string, { readonly allowed: boolean; readonly until: number }>()

await messages.subscribe(CHANNEL)
messages.on('message', (_, user: string) => void cache.delete(user))

createServer((request, response) => {
  void serve(request, response).catch(() => response.writeHead(503).end())
}).listen(port, '127.0.0.1')

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const user = request.headers.authorization ?? ''
  if (request.method === 'PUT') {
    await store.set(`right:${user}`, String(request.url).slice(1))
    cache.delete(user)
    await store.publish(CHANNEL, user)
    response.writeHead(204).end()
    return
  }
  response.writeHead((await isAllowed(user)) ? 204 : 403).end()
}

async function isAllowed(user: string): Promise<boolean> {
  const kept = cache.get(user)
  if (kept !== undefined && kept.until > Date.now()) return kept.allowed
  const allowed = (await store.get(`right:${user}`)) === 'allow'
  if (keeps > 0) cache.set(user, { allowed, until: Date.now() + keeps })
  return allowed
}
