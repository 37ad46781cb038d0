/** Fills the disk of its folder through the store, and prints the results. */

import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore, StoreUnavailable } from '../../../../seats-admin/index.ts'
import { chainOf, faultsOf } from '../audit-chain.ts'
import { allNames, done, writer } from '../conformance.ts'

const [, , folder = ''] = process.argv
const ballast = join(folder, 'ballast')
writeFileSync(ballast, Buffer.alloc(512 * 1024))
const store = await openSqliteStore({ path: join(folder, 'seatgate.db'), timeout: 60_000 })
const permissions = Array.from({ length: 500 }, (_, at) => `resource-${at}:read`)
const attempt = async (work: Promise<unknown>) => {
  try {
    done(await work)
    return 'done'
  } catch (cause) {
    return cause instanceof StoreUnavailable ? cause.message : `unexpected: ${cause}`
  }
}

const acknowledged: string[] = []
let refusal = ''
while (refusal === '' && acknowledged.length < 10_000) {
  const name = `s${acknowledged.length}`
  const result = await attempt(store.createSeat(writer(), { name, spaces: [], permissions }))
  if (result === 'done') acknowledged.push(name)
  else refusal = result
}

const whileFull = {
  names: await allNames(store),
  again: await attempt(store.createSeat(writer(), { name: 'again', spaces: [], permissions })),
}
// Writes that succeed on a full disk, since they store nothing.
const nothingStored = {
  refused: await store.createSeat(writer(), { name: acknowledged[0] ?? '', spaces: [], permissions: [] }),
  pruned: await store.sessions.prune(0, 10),
  fault: store.health.state.writes,
}
rmSync(ballast)
const healed = await attempt(store.createSeat(writer(), { name: 'healed', spaces: [], permissions }))
const fault = store.health.state.writes
const afterwards = await allNames(store)
const entries = await chainOf(store)
const audit = { names: entries.map(({ target }) => target.name), faults: faultsOf(entries) }
await store.close()
const result = { acknowledged, refusal, whileFull, nothingStored, healed, fault, afterwards, audit }
process.stdout.write(JSON.stringify(result))
