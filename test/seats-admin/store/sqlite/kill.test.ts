/** `kill -9`: what was acknowledged is there afterwards, whole; what was under way is there wholly or not at all. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openSqliteStore, type Store } from '../../../../seats-admin/index.ts'
import { ADMIN } from '../conformance.ts'
import { temporaryFolder } from './support.ts'

const LANES = 4
const ROUNDS = 10
const script = fileURLToPath(new URL('./kill-process.ts', import.meta.url))

/** Runs the writer until `ms` after its first acknowledged write; gives the lines it said. */
async function writeAndDie(path: string, prefix: string, ms: number): Promise<string[]> {
  const child = spawn(process.execPath, [script, path, prefix], { stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  const said: string[] = []
  const lines = createInterface(child.stdout).on('line', (line) => said.push(line))
  const ended = once(lines, 'close')
  await Promise.race([once(lines, 'line'), exit])
  await sleep(ms)
  child.kill('SIGKILL')
  const [, signal] = await exit
  if (signal !== 'SIGKILL') throw new Error('the writer ended by itself')
  await ended
  return said
}

/** What of that which was said is not so. */
async function broken(store: Store, said: readonly string[]): Promise<string[]> {
  const found: string[] = []
  const last = new Map(said.map((line) => line.split(' ').toReversed() as [string, string]))
  for (const [name, verb] of last) {
    const plain = (await store.seatByName('acme', name)).value
    const renamed = (await store.seatByName('acme', `${name}-renamed`)).value
    const here = plain.seat !== null ? 'made' : renamed.seat !== null ? 'renamed' : 'deleted'
    // The write after the last acknowledged one may have been committed too.
    const order = ['made', 'renamed', 'deleted']
    const ahead = order.indexOf(here) - order.indexOf(verb)
    if (ahead < 0 || ahead > 1) found.push(`${name} was ${verb}, is ${here}`)
    if (here !== 'made' && plain.givenUpAt === null) found.push(`${name}: the name is not marked`)
    if (here === 'deleted' && renamed.givenUpAt === null) found.push(`${name}: the new name is not marked`)
  }
  return found
}

async function halves(store: Store): Promise<string[]> {
  const found: string[] = []
  for (let after: string | null = null, more = true; more;) {
    const { data, hasMore } = await store.listSeats('acme', { limit: 100, after, scope: ADMIN })
    for (const { name, spaces, permissions } of data) {
      const own = permissions.filter((each) => each.startsWith(`${name}:`))
      if (spaces[0] !== name || own.length !== 300 || permissions.length !== 300) found.push(name)
    }
    after = data.at(-1)?.id ?? null
    more = hasMore
  }
  return found
}

t.test(`${LANES * ROUNDS} rounds`, async (t) => {
  const lane = async (number: number) => {
    const path = join(temporaryFolder(t), 'seatgate.db')
    const all: string[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const said = await writeAndDie(path, `${number}-${round}`, Math.random() * 100)
      all.push(...said)
      const store = await openSqliteStore({ path })
      t.same(await broken(store, said), [], `lane ${number}, round ${round}: ${said.length} acknowledged`)
      // Every other round the next writer finds the log as the killed one left it.
      if (round % 2 === 0) await store.close()
      else t.teardown(() => store.close())
    }
    const store = await openSqliteStore({ path })
    t.same([...(await broken(store, all)), ...(await halves(store))], [], `lane ${number}: all ${all.length}`)
    await store.close()
    t.ok(all.length >= ROUNDS, 'each round had one at least')
  }
  await Promise.all(Array.from({ length: LANES }, (_, number) => lane(number)))
})

t.test('killed while it makes the file', async (t) => {
  for (let round = 0; round < 8; round++) {
    const path = join(temporaryFolder(t), 'seatgate.db')
    const child = spawn(process.execPath, [script, path, 'x'], { stdio: 'ignore' })
    const exit = once(child, 'exit')
    await sleep(60 + Math.random() * 200)
    child.kill('SIGKILL')
    await exit
    const store = await openSqliteStore({ path })
    t.ok((await store.changesSince(0)).seq >= 0)
    await store.close()
  }
})
