/**
 * A second gateway on the store of a running one would not notice its writes. The lock file is deleted or replaced,
 * the database is opened by other names: two gateways never decide at the same time. `store-owner.slow.test.ts`
 * overwrites the owner in the store.
 */

import { spawnSync } from 'node:child_process'
import { copyFileSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { GatewayProcess } from '../support/gateway-process.ts'
import { ask, configOf, makeViewer, permit, prepare, start } from './store-gateways.ts'

// A gateway waits five seconds for the others to close the file before it gives up.
t.jobs = 3
const IN_USE = /another process has the file open/

/** Writes at the first gateway, then sends requests to the second, and counts its decisions on older state. */
async function staleDecisions(
  first: GatewayProcess,
  second: GatewayProcess,
  key: string,
  token: string,
): Promise<number> {
  const id = await makeViewer(first, key)
  let stale = 0
  for (let round = 0; round < 40; round++) {
    const grant = round % 2 === 1
    await permit(first, key, id, grant ? ['trainings:list'] : ['trainings:read'])
    if ((await ask(second, token)) !== (grant ? 200 : 403)) stale++
  }
  return stale
}

/** A gateway that runs, and the requirement that a second one on its store ends and says why. */
async function running(t: Test) {
  const place = await prepare(t)
  const { key, token } = place
  const first = await start(t, place)
  const refused = async (t: Test, why: RegExp, through: string[] = []) => {
    const second = await start(t, place, through)
    if (second.origin !== '')
      t.equal(await staleDecisions(first, second, key, token), 0, 'stale decisions of the second gateway')
    t.equal(second.origin, '', 'it does not listen')
    if (second.running) await second.kill()
    t.equal(await second.ended, 1)
    t.match(second.log, why)
    t.equal(await ask(first, token), 403, 'the first one keeps running')
  }
  return { place, first, refused }
}

t.test('beside a running gateway, with any lock file', async (t) => {
  const { place, first, refused } = await running(t)
  const { path, key, token } = place
  await t.test('the store is unchanged', (t) => refused(t, /another gateway runs on the store/))
  await t.test('the lock file is deleted', (t) => {
    rmSync(`${path}.lock`)
    return refused(t, IN_USE)
  })
  await t.test('the lock file is moved away and replaced by a copy', (t) => {
    renameSync(`${path}.lock`, `${path}.away`)
    copyFileSync(`${path}.away`, `${path}.lock`)
    return refused(t, IN_USE)
  })

  const id = await makeViewer(first, key)
  t.equal(await ask(first, token), 200)
  await first.kill()
  const next = await start(t, place)
  t.equal(await ask(next, token), 200, 'killed: the next one starts at once')
  t.equal(await permit(next, key, id, []), 200)
  t.equal(await ask(next, token), 403)
})

t.test('beside a running gateway, by any name', async (t) => {
  const { place, refused } = await running(t)
  const { cwd, path } = place
  const useStore = (name: string) => writeFileSync(join(cwd, 'gateway.config.yaml'), configOf(name))
  await t.test('by a symbolic link', (t) => {
    rmSync(`${path}.lock`)
    symlinkSync(path, join(cwd, 'link.db'))
    useStore('./link.db')
    return refused(t, IN_USE)
  })
  await t.test('by a hard link in another folder', async (t) => {
    mkdirSync(join(cwd, 'other'))
    linkSync(path, join(cwd, 'other', 'other.db'))
    useStore('./other/other.db')
    await refused(t, /the file has 2 hard links/)
    rmSync(join(cwd, 'other', 'other.db'))
  })
  await t.test('by a bind mount of the file', async (t): Promise<void> => {
    const mounted = join(cwd, 'other', 'mounted.db')
    writeFileSync(mounted, '')
    const mount = 'mount --bind "$0" "$1" && shift && exec "$@"'
    const bind = ['--map-root-user', '--mount', 'sh', '-c', mount, path, mounted]
    if (spawnSync('unshare', [...bind, 'true']).status !== 0) {
      t.pass({ skip: 'this machine does not permit bind mounts' })
      return
    }
    useStore('./other/mounted.db')
    return refused(t, IN_USE, ['unshare', ...bind])
  })
})

t.test('of four that start at once without a common lock file, one decides', async (t) => {
  const place = await prepare(t)
  const deleting = setInterval(() => rmSync(`${place.path}.lock`, { force: true }), 1)
  t.teardown(() => clearInterval(deleting))
  const four = () => Promise.all(Array.from({ length: 4 }, () => start(t, place)))
  const deciding = (all: GatewayProcess[]) => all.filter(({ origin }) => origin !== '').length
  let all = await four()
  // Each of them may lose its lock file before it has looked at it: then none starts.
  while (
    deciding(all) === 0 &&
    all.some(({ log }) => log.includes('deleted or replaced while it was locked'))
  )
    all = await four()
  t.equal(deciding(all), 1, all.map(({ log }) => log).join('\n'))
})
