/** `seatgate lint` on the configured store, and on a file of Seats. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openSqliteStore } from '../../seats-admin/index.ts'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

t.test('the store', async (t) => {
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES })
  const empty = await seatgateHere(cwd, ['lint'])
  t.match(empty.err, 'note: there is no store at')
  t.match(
    empty.out,
    'warning route_ungranted (1)\n  acme: GET /v1/trainings (routes/a.yaml:3) requires trainings:list',
  )
  t.match(empty.out, 'info route_public (1)\n  GET /docs/*')
  t.equal(empty.code, 0)
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  const store = await openSqliteStore({ path: join(cwd, 'seatgate.db'), timeout: 60_000 })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const writer = { tenant: 'acme', by: 'test', scope, now: Date.now() }
  for (let index = 0; index < 12; index++)
    await store.createSeat(writer, { name: `S${index}`, spaces: ['main'], permissions: ['trainings:lists'] })
  await store.createApiKey(writer, { name: 'empty', seats: [], expiresAt: null })
  await store.close()
  const full = await seatgateHere(cwd, ['lint', '--strict'])
  t.equal(full.code, 3)
  t.match(
    full.out,
    '  acme: Seat "S0" holds trainings:lists, which no route requires (did you mean\n    "trainings:list"?); 11 more Seats hold it\n',
  )
  t.match(full.out, '  acme: API key "empty" has no Seat')
  t.notMatch(full.out, 'nobody_administers')
  const findings = JSON.parse((await seatgateHere(cwd, ['lint', '--json', '--tenant', 'acme'])).out)
  t.equal(findings.filter(({ code }: { code: string }) => code === 'permission_unasked').length, 12)
})

t.test('a tenant whose only administrator is gone', async (t) => {
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES })
  await seatgateHere(cwd, ['bootstrap', '--tenant', 'acme'])
  const store = await openSqliteStore({ path: join(cwd, 'seatgate.db'), timeout: 60_000 })
  const scope = { space: 'admin', admin: true, all: true, permissions: [] }
  const writer = { tenant: 'acme', by: 'test', scope, now: Date.now() }
  const [key] = (await store.listApiKeys('acme', { limit: 1, after: null, scope })).data
  const [admin] = (await store.listSeats('acme', { limit: 1, after: null, scope })).data
  await store.revokeApiKey(writer, key?.id ?? '')
  const lint = () => seatgateHere(cwd, ['lint', '--strict'])
  const alone = await lint()
  t.equal(alone.code, 3)
  t.match(alone.out, /^error nobody_administers \(1\)\n {2}acme: no API key in force/)
  await store.recordSignIn('acme', { sub: 'ann', email: null, name: null, at: 1 }, [admin?.id ?? ''])
  t.notMatch((await lint()).out, 'nobody_administers')
  await store.createBlock(writer, { user: 'ann', until: null, reason: null })
  t.match((await lint()).out, 'nobody_administers', 'a blocked user is no administrator')
  await store.close()
})

t.test('a file, without variables and store', async (t) => {
  const seats = { tenant: 'acme', seats: { A: { spaces: ['main'], permissions: ['trainings:list'] } } }
  const files = {
    'gateway.config.yaml': CONFIG,
    'routes/a.yaml': ROUTES,
    'seats.yaml': JSON.stringify(seats),
  }
  const cwd = folderWith(t, files)
  const run = () => seatgateHere(cwd, ['lint', '--seats', 'seats.yaml', '--strict'], { ACME_SECRET: '' })
  t.equal((await run()).code, 0)
  writeFileSync(join(cwd, 'seats.yaml'), JSON.stringify({ ...seats, tenant: 'other' }))
  t.match(await run(), { code: 1, err: /has no tenant "other"/ })
})

t.test('a file of another tenant than the one that is named', async (t) => {
  const globex = '  globex: { token: { secrets: ["${ACME_SECRET}-globex"] } }\n'
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG.replace(/^tenants:\n/m, `tenants:\n${globex}`),
    'routes/a.yaml': ROUTES,
    'seats.yaml': '{ "tenant": "acme", "seats": {} }',
  })
  const run = (tenant: string) => seatgateHere(cwd, ['lint', '--tenant', tenant, '--seats', 'seats.yaml'])
  t.equal((await run('acme')).code, 0)
  t.match(await run('globex'), {
    code: 1,
    out: '',
    err: /seats\.yaml has the Seats of tenant "acme", not of "globex"/,
  })
})
