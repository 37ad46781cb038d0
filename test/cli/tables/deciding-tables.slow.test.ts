/** Commands that need route tables, where the configuration has them in the store. */

import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { startPushed, tableOf } from '../../tables/pushing.ts'
import { seatgateHere } from '../in-process.ts'

const SECRETS = { GLOBEX_SECRET: 'g'.repeat(32) }
const REQUIREMENTS = ['public', 'a:read', 'authenticated']

async function pushed(t: Test) {
  const world = await startPushed(t)
  const { gateway, pusher } = world
  const hashes: string[] = []
  for (const requirement of REQUIREMENTS)
    hashes.push((await pusher.push({ 'main.yaml': tableOf(requirement) })).json.hash)
  const { folder } = gateway
  const run = (...args: string[]) => seatgateHere(folder, args, SECRETS)
  return { ...world, folder, run, hashes }
}

t.test('they have the active version, or the one that is named', async (t) => {
  const { folder, run, hashes, pusher } = await pushed(t)
  await pusher.send('POST', '/v1/seats', { name: 'Reader', spaces: ['s'], permissions: ['a:read'] })
  const routes = await run('routes', '--filter', '/gate')
  t.match(routes, { code: 0, out: /^GET +\/gate +authenticated +main +main\.yaml:3\n$/, err: '' })

  t.match(await run('check'), { code: 0, out: /no faults \(1 route, 1 upstream\)\n$/ })
  t.same(await run('check', '--hash'), { code: 0, out: `${hashes[2]}\n`, err: '' })
  t.same(await run('check', '--hash', 'tables:1'), { code: 0, out: `${hashes[0]}\n`, err: '' })
  t.match(await run('check', '--no-env'), { code: 0, err: /in the store, and are not checked with --no-env/ })
  t.match(await run('fleet', '--wait', hashes[2] ?? '', '--within', '20s'), { code: 0 })

  t.match(JSON.parse((await run('fleet', '--json')).out).instances, [{ config: hashes[2], tables: 'store' }])
  t.match((await run('fleet')).out, /\swith tables [0-9a-f]{12} of the store/)
  t.match((await pusher.send('GET', '/v1/fleet')).json.data, [{ hash: hashes[2], tables: 'store' }])

  const asked = ['explain', 'GET', '/gate', '--space', 's', '--tenant', 'acme', '--seat', 'Reader']
  t.match(await run(...asked, '--expect', 'allow'), { code: 0 })
  t.match(await run('explain', 'GET', '/gate', '--expect', 'credentials_missing'), { code: 0 })
  t.match(await run('explain', 'GET', '/gate', '--tables', '1', '--expect', 'allow'), { code: 0 })
  t.match(await run('explain', 'GET', '/gate', '--tables', '2', '--expect', 'allow'), { code: 3 })

  t.match(await run('who-can', 'GET', '/gate', '--tenant', 'acme'), {
    code: 0,
    out: /main\.yaml:3\) is open to every caller/,
  })
  t.match(await run('can', '--seat', 'Reader', '--tenant', 'acme'), {
    code: 0,
    out: /GET \/gate +authenticated/,
  })
  t.match(await run('lint', '--tenant', 'acme'), { code: 0, out: /a:read/ }, 'no route asks for it')
  t.notMatch((await run('lint', 'tables:2', '--tenant', 'acme')).out, 'a:read')

  mkdirSync(join(folder, 'policy'))
  const policy = 'tenant: acme\ncases:\n  - { request: GET /gate, expect: credentials_missing }\n'
  writeFileSync(join(folder, 'policy/a.yaml'), policy)
  t.match(await run('test'), { code: 0 })
  await pusher.push({ 'main.yaml': tableOf('public') })
  t.match(await run('test'), { code: 3 })

  t.match(await run('diff', 'tables:1', 'tables:2'), { code: 3, out: /^tightened {2}GET \/gate\n/ })
  t.match(await run('diff', 'tables:1', 'tables:active'), { code: 0 })
  t.match(await run('diff', 'tables:3', '.'), { code: 3, out: /^became_public/ })
})

t.test('what cannot be read', async (t) => {
  const { folder, run, gateway } = await pushed(t)
  const none = /^seatgate \S+: the store has no version 9 of the route tables\n$/
  for (const args of [
    ['check', 'tables:9'],
    ['lint', 'tables:9'],
    ['diff', 'tables:9', '.'],
    ['explain', 'GET', '/', '--tables', '9'],
  ])
    t.match(await run(...args), { code: 1, out: '', err: none }, args.join(' '))
  for (const args of [
    ['check', 'tables:0'],
    ['check', 'tables:x'],
    ['check', 'x'],
    ['check', 'tables:1', '--no-env'],
    ['lint', '1'],
    ['diff', 'tables:', '.'],
    ['explain', 'GET', '/', '--tables', 'x'],
    ['explain', 'GET', '/', '--tables', '1', '--url', 'http://127.0.0.1:9', '--api-key', 'k'],
    ['explain', 'id', '--tables', '1', '--from', 'log'],
  ])
    t.match(await run(...args), { code: 2, out: '', err: /usage: / }, args.join(' '))
  await gateway.kill()
  renameSync(join(folder, 'seatgate.db'), join(folder, 'away.db'))
  const missing = /there is no store at \S+seatgate\.db/
  for (const args of [['routes'], ['check'], ['lint'], ['can', '--seat', 'a', '--tenant', 'acme']]) {
    const { err } = await run(...args)
    t.match(err, missing, args.join(' '))
    t.match(err, /the gateway has no routes but its own\n/, args.join(' '))
  }
  t.match(await run('check', 'tables:1'), { code: 1, err: missing })
  writeFileSync(join(folder, 'seatgate.db'), 'no database')
  for (const args of [
    ['routes'],
    ['check'],
    ['check', '--hash'],
    ['test', 'policy/a.yaml'],
    ['explain', 'GET', '/gate'],
  ]) {
    const { code, out, err } = await run(...args)
    t.match({ code, out }, { code: 1, out: '' }, args.join(' '))
    if (args[0] !== 'test')
      t.match(err, 'the route tables are in the store, which cannot be read: ', args.join(' '))
  }
})

t.test('before the first push', async (t) => {
  const { gateway } = await startPushed(t)
  const { code, err } = await seatgateHere(gateway.folder, ['routes'], SECRETS)
  t.equal(code, 0)
  t.equal(err, 'note: no route tables were pushed to the store: the gateway has no routes but its own\n')
})

t.test('where the tables are in files', async (t) => {
  const { gateway } = await startPushed(t, { tablesFrom: 'files', top: ['routes: [routes/*.yaml]'] })
  for (const args of [
    ['check', 'tables:1'],
    ['diff', 'tables:1', '.'],
    ['explain', 'GET', '/', '--tables', '1'],
  ])
    t.match(await seatgateHere(gateway.folder, args, SECRETS), {
      code: 1,
      out: '',
      err: /gateway\.config\.yaml has its route tables in files/,
    })
})
