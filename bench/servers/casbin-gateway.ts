/**
 * A gateway in Node.js that decides with casbin: the policy is in PostgreSQL and in the memory of each
 * instance, and the watcher's message lets the others load it again.
 */

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { RedisWatcher } from '@casbin/redis-watcher'
import casbinPgAdapter from 'casbin-pg-adapter'
import type { CasbinSetup } from '../staleness/staleness-peer.ts'

// Its ES module fails at `new AwaitLock()` (casbin 5.51.1).
const { newModelFromString, newSyncedEnforcer } = createRequire(import.meta.url)(
  'casbin',
) as typeof import('casbin')
const { port, redis, store, migrates }: CasbinSetup = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
/** An access control list, as in casbin's manual. */
const MODEL = `
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = r.sub == p.sub && r.obj == p.obj && r.act == p.act
`
const RIGHT = ['canary', 'read'] as const

const adapter = await casbinPgAdapter.default.newAdapter({ connectionString: store, migrate: migrates })
const enforcer = await newSyncedEnforcer(newModelFromString(MODEL), adapter)
await enforcer.loadPolicy()
const watcher = await RedisWatcher.newWatcher(redis)
enforcer.setWatcher(watcher)
// The message of casbin itself is not awaited.
enforcer.enableAutoNotifyWatcher(false)

createServer((request, response) => {
  void serve(request, response).catch(() => response.writeHead(503).end())
}).listen(port, '127.0.0.1')

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const user = request.headers.authorization ?? ''
  if (request.method === 'PUT') {
    if (request.url === '/allow') await enforcer.addPolicy(user, ...RIGHT)
    else await enforcer.removePolicy(user, ...RIGHT)
    await watcher.update()
    response.writeHead(204).end()
    return
  }
  response.writeHead((await enforcer.enforce(user, ...RIGHT)) ? 204 : 403).end()
}
