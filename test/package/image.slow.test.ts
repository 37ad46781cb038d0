/**
 * The image that the Dockerfile describes, without a container engine: each stage is a root of the packages that its base
 * image has, in which the steps run as they are written. The program runs as its last stage says, on a root that can't be
 * written.
 */

import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { served } from '../support/served.ts'
import { reservePort } from '../support/servers/ports.ts'
import { startUpstream } from '../support/world.ts'
import { build } from './dockerfile.ts'
import { noRoots } from './slim-root.ts'
import { serverFolder } from '../support/servers/folder.ts'

const clone = fileURLToPath(new URL('../..', import.meta.url))

/** The files that .dockerignore lets through. */
function contextOf(t: Test): string {
  const folder = serverFolder(t, 'context')
  const [first, ...lines] = readFileSync(join(clone, '.dockerignore'), 'utf8').trim().split('\n')
  t.equal(first, '*', 'nothing passes but what is named')
  for (const line of lines)
    cpSync(join(clone, line.slice(1)), join(folder, line.slice(1)), { recursive: true })
  return folder
}

t.test('the image is built, starts, and is healthy', { skip: noRoots() }, async (t) => {
  const dockerfile = readFileSync(join(clone, 'Dockerfile'), 'utf8')
  const image = await build(t, dockerfile, contextOf(t), { COMMIT: 'abc1234' })
  const { root, entrypoint, volumes: writable } = image
  const inside = (path: string) => existsSync(root.path(path))
  t.ok(inside('app/dist/src/cli/main.js'))
  t.same(
    ['app/node_modules/node', 'app/node_modules/tap', 'app/src/cli/main.ts', 'bin/sh'].filter(inside),
    [],
    'no Node.js but that of the image, no development dependency, no source, no shell',
  )
  t.equal(JSON.parse(readFileSync(root.path('app/dist/build.json'), 'utf8')).commit, 'abc1234')

  const { url: service } = await startUpstream(t)
  const [port, ops] = [await reservePort(t), await reservePort(t)]
  mkdirSync(root.path('config/routes'))
  writeFileSync(
    root.path('config/routes/orders.yaml'),
    'upstream: orders\nroutes:\n  GET /v1/orders: orders:list\n  GET /v1/public: public\n',
  )
  writeFileSync(
    root.path('config/gateway.config.yaml'),
    `listen: 127.0.0.1:${port}
ops: 127.0.0.1:${ops}
store: sqlite:/data/seatgate.db
tenants:
  acme: { token: { secrets: ["a secret of more than thirty-two bytes, for tests"] } }
upstreams:
  orders: { targets: ["${service}"] }
routes: [routes/*.yaml]
`,
  )
  const place = { ...image, writable }
  const bootstrap = await root.run(t, [...entrypoint, 'bootstrap', '--tenant', 'acme', '--json'], place)
  const gateway = root.start(t, [...entrypoint, ...image.command], place)
  await gateway.prints('/livez')
  t.match(await root.run(t, image.healthcheck, place), `http://127.0.0.1:${ops}/livez: 200`)

  const ask = (path: string, headers = {}) =>
    served(() => fetch(`http://127.0.0.1:${port}${path}`, { headers }))
  t.equal((await ask('/v1/public')).status, 200)
  t.equal((await ask('/v1/orders')).status, 401)
  const { key } = JSON.parse(bootstrap)
  t.equal((await ask('/v1/orders', { 'x-api-key': key, Space: 'main' })).status, 403)
  t.match(gateway.status(), /^Uid:\t65532\t65532\t.*\nGid:\t65532\t65532/m)
  t.match(gateway.status(), /^CapEff:\t0+$/m)
  const write = [entrypoint[0] ?? '', '-e', 'fs.writeFileSync("/config/a", "")']
  await t.rejects(root.run(t, write, { ...place, uid: 0 }), /EROFS/)

  gateway.signal('SIGTERM')
  t.equal(await gateway.ended, 0, gateway.out)
  await t.rejects(root.run(t, image.healthcheck, place), /ECONNREFUSED/)
})
