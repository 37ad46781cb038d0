/** A route that requires a permission of the gateway itself: a Seat that holds it opens the gateway's endpoints too. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { isOwnPermission } from '../../seats-admin/model/permission.ts'
import { requiredPermissions } from '../../src/access/required-permissions.ts'
import { builtInPaths } from '../../src/composition.ts'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

t.test('the names are those of the endpoints', async (t) => {
  for (const permission of requiredPermissions(() => builtInPaths())().all)
    t.ok(isOwnPermission(permission), permission)
  for (const other of [
    '*',
    'public',
    'authenticated',
    'user:list',
    'github.users:list',
    'users',
    'Users:list',
  ])
    t.notOk(isOwnPermission(other), other)
})

t.test('check and lint', async (t) => {
  const table = `${ROUTES}  GET /users: users:list\n  # seatgate: accept builtin_permission\n  GET /keys: api-keys:read\n`
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': table })
  const checked = await seatgateHere(cwd, ['check', '--strict'])
  t.equal(checked.code, 3)
  t.equal(
    checked.err,
    "routes/a.yaml:6:3: warning: GET /users: a Seat that holds users:list opens the gateway's own endpoints too: write a name of the service's own, such as trainings.users:list [builtin_permission]\n",
  )
  writeFileSync(
    join(cwd, 'seats.yaml'),
    'tenant: acme\nseats: { A: { spaces: [main], permissions: ["*"] } }\n',
  )
  const lint = await seatgateHere(cwd, ['lint', '--seats', 'seats.yaml', '--json', '--strict'])
  t.equal(lint.code, 3)
  t.match(
    JSON.parse(lint.out).filter(({ code }: { code: string }) => code === 'builtin_permission'),
    [{ level: 'warning', tenant: null, route: 'GET /users', permission: 'users:list' }],
    'the accepted one is left out',
  )
})

t.test('import', async (t) => {
  const api = `openapi: 3.1.0
paths:
  /users: { get: { tags: [seats] }, post: { x-seatgate-permission: users:create } }
  /orders: { get: { tags: [orders], operationId: list } }
`
  const cwd = folderWith(t, { 'api.yaml': api })
  const run = (...args: string[]) =>
    seatgateHere(cwd, ['import', 'openapi', 'api.yaml', '--upstream', 'hub', '--out', 'a.yaml', ...args])
  const made = await run()
  t.equal(made.code, 0)
  t.match(
    readFileSync(join(cwd, 'a.yaml'), 'utf8'),
    '  GET /users: hub.users:list\n  POST /users: users:create\n',
  )
  const warning =
    /^a\.yaml:7:3: warning: POST \/users: a Seat that holds users:create .* \[builtin_permission\]$/m
  t.match(made.err, warning)
  t.match(made.err, /^api\.yaml: 1 permission has "hub\." before the resource, .* \[builtin_permission\]$/m)
  const again = await run('--update', '--strict')
  t.equal(again.code, 3)
  t.match(again.err, warning)
  t.notMatch(again.err, 'before the resource')
  t.equal((await run('--check')).code, 0)
  const printed = (template: string) =>
    seatgateHere(cwd, ['import', 'openapi', 'api.yaml', '--upstream', 'hub', '--permission', template])
  t.match((await printed('{tag}:{verb}')).out, 'GET /users: hub.seats:list\n')
  t.match((await printed('blocks:{verb}')).out, 'GET /users: blocks:list\n', 'as it is written')
  t.match((await printed('x.{resource}:{verb}')).out, 'GET /users: x.users:list\n')
})
