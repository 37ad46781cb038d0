/**
 * No disk space, simulated by a limit on the size of the server's files: writes fail, reads continue, no acknowledged
 * write is lost, and the store recovers without a restart once there is space.
 */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import t, { type Test } from 'tap'
import { type Store, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { ordinaryUser } from '../../../support/servers/folder.ts'
import { startPostgres } from '../../../support/servers/postgres.ts'
import { auditFaults } from '../audit-chain.ts'
import { allNames, done, writer } from '../conformance.ts'
import { emptyDatabase, open } from './support.ts'

/** Above the size of a WAL segment, 16 MB. */
const LIMIT = 20 * 1024 * 1024

/** Limits the files of a process, and of its future children. */
function limitFiles(pid: number, limit: number | 'unlimited'): boolean {
  const asked = ['--pid', `${pid}`, `--fsize=${limit}:`]
  return spawnSync('prlimit', asked, { ...ordinaryUser() }).status === 0
}

/** Incompressible. */
function large(name: string) {
  const permissions = Array.from({ length: 20_000 }, () => `${crypto.randomUUID()}:read`)
  return { name, spaces: [], permissions }
}

async function fill(t: Test, store: Store): Promise<string[]> {
  const acknowledged: string[] = []
  for (;;) {
    const name = `s${acknowledged.length}`
    try {
      done(await store.createSeat(writer(), large(name)))
    } catch (cause) {
      t.ok(cause instanceof StoreUnavailable)
      t.match(cause, /could not (extend|write)|File too large|No space/)
      return acknowledged
    }
    acknowledged.push(name)
    if (acknowledged.length > 200) throw new Error('the limit is never reached')
  }
}

t.test('files that can not grow', async (t) => {
  const server = await startPostgres(t)
  if (!existsSync('/proc/self/limits') || !limitFiles(server.pid, LIMIT)) {
    t.pass({ skip: 'this machine can not limit the files of another process' })
    return
  }
  const store = await open(t, { url: await emptyDatabase(server) })
  const acknowledged = await fill(t, store)
  t.ok(acknowledged.length > 5)
  t.same(await allNames(store), acknowledged, 'reads continue')
  await t.rejects(store.createSeat(writer(), large('again')), StoreUnavailable)
  for (const { pid } of await server.query('SELECT pid FROM pg_stat_activity'))
    limitFiles(Number(pid), 'unlimited')
  limitFiles(server.pid, 'unlimited')
  done(await store.createSeat(writer(), large('healed')))
  t.same(await allNames(store), [...acknowledged, 'healed'])
  const { head, changes } = await store.changesSince(null)
  t.equal(head.seq, 2 * (acknowledged.length + 1), 'refused writes used no numbers')
  t.equal(changes?.length, head.seq)
  const made = [...acknowledged, 'healed'].map((name) => `made ${name}`)
  t.same(await auditFaults(store, made), [], 'an entry for each write, and none for a refused one')
})
