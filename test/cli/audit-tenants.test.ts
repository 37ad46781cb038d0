/** `seatgate audit verify` and `audit export` take every tenant, each with a result of its own. */

import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import t from 'tap'
import { openStore } from '../../seats-admin/index.ts'
import { done, writer, ADMIN } from '../seats-admin/store/conformance.ts'
import { CONFIG, folderWith, ROUTES, SECRET } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const GLOBEX = `  globex: { token: { secrets: ["another ${SECRET}"] } }\n`

t.test('every tenant without --tenant', async (t) => {
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG.replace('upstreams:', `${GLOBEX}upstreams:`),
    'routes/trainings.yaml': ROUTES,
  })
  const run = (...args: string[]) => seatgateHere(cwd, ['audit', ...args])
  const path = join(cwd, 'seatgate.db')
  const store = await openStore({ kind: 'sqlite', path, timeout: 60_000 })
  t.teardown(() => store.close())
  for (const tenant of ['globex', 'acme', 'acme'])
    done(
      await store.createSeat(
        { ...writer(ADMIN), tenant },
        { name: crypto.randomUUID(), spaces: [], permissions: [] },
      ),
    )

  const { out } = await run('export')
  const entries = out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.same(
    entries.map(({ tenant, seq }) => `${tenant} ${seq}`),
    ['acme 1', 'acme 2', 'globex 1'],
  )
  const verified = await run('verify')
  t.equal(verified.code, 0)
  t.match(
    verified.out,
    new RegExp(`acme is intact.*\nnewest: 2:${entries[1].hash}\n.*globex is intact.*\nnewest: 1:`),
  )

  using database = new DatabaseSync(path, { timeout: 5000 })
  database.exec(`UPDATE audit SET actor_id = 'eve' WHERE tenant = 'acme' AND seq = 1`)
  const found = await run('verify', '--json')
  t.equal(found.code, 3)
  const results = found.out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  t.match(results, [
    { tenant: 'acme', intact: false, findings: [{ seq: 1, fault: 'changed' }] },
    { tenant: 'globex', intact: true, entries: 1 },
  ])
  t.match(await run('verify', '--tenant', 'globex'), { code: 0 }, 'one alone')
  t.match(await run('verify', '--head', `1:${'0'.repeat(64)}`), { code: 2 }, 'the entry of which tenant?')
})
