/**
 * A gateway in Node.js that decides with casbin: the policy is in PostgreSQL and in the memory of each instance, and the
 * watcher's message lets the others load it again.
 */

import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { packageExports } from '../staleness/peer-packages.ts'
import type { CasbinSetup } from '../staleness/staleness-peer.ts'

interface Enforcer {
  setWatcher(watcher: object): void
  enableAutoNotifyWatcher(enable: boolean): void
  loadPolicy(): Promise<void>
  enforce(...request: string[]): Promise<boolean>
  addPolicy(...rule: string[]): Promise<boolean>
  removePolicy(...rule: string[]): Promise<boolean>
}

const { newModelFromString, newSyncedEnforcer } = packageExports('casbin') as {
  newModelFromString(text: string): object
  newSyncedEnforcer(model: object, adapter: object): Promise<Enforcer>
}
const { default: PostgresAdapter } = packageExports('casbin-pg-adapter') as {
  default: { newAdapter(options: object): Promise<object> }
}
const { RedisWatcher } = packageExports('@casbin/redis-watcher') as {
  RedisWatcher: { newWatcher(url: string): Promise<{ update(): Promise<unknown> }> }
}

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

const adapter = await PostgresAdapter.newAdapter({ connectionString: store, migrate: migrates })
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
