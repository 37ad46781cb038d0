/** The files of a configuration are watched by polls, whose time is in the hands of the tests. */

import { renameSync, rmSync, statSync, symlinkSync, utimesSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Config } from '../../src/config/config.ts'
import { watchConfig } from '../../src/config/watch.ts'
import { holdTime, untilStepped } from '../support/held-time.ts'
import { BASE, Folder } from './support.ts'

const TABLE = 'upstream: main\nroutes: { GET /a: a:b }\n'

const time = holdTime(t)

async function load(folder: Folder, name?: string): Promise<Config> {
  const { config, faults } = await folder.load({}, name)
  if (config === null) throw new Error(faults.map((each) => each.message).join('\n'))
  return config
}

class Watched {
  changes = 0
  readonly #watch: { close(): void }

  constructor(t: Test, files: readonly string[], since: string | null) {
    this.#watch = watchConfig(
      () => files,
      () => {
        this.changes++
      },
      since,
    )
    t.teardown(() => this.close())
  }

  close(): void {
    this.#watch.close()
  }

  /** Lets time pass until this number of changes is noticed. */
  async noticed(changes: number): Promise<number> {
    await untilStepped(time, () => this.changes >= changes)
    return this.changes
  }
}

async function watched(t: Test) {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}routes: ['routes/*.yaml', one.yaml]\n`,
    'routes/a.yaml': TABLE,
    'one.yaml': TABLE.replace('/a', '/one'),
  })
  const config = await load(folder)
  return { folder, config, watch: new Watched(t, config.files, config.signature) }
}

t.test('any change of each file', async (t) => {
  const { folder, watch } = await watched(t)
  folder.write({ 'gateway.config.yaml': `${BASE}drain: 1s\n` })
  t.equal(await watch.noticed(1), 1, 'the main file was written')
  folder.write({ 'routes/a.yaml': `${TABLE}#\n` })
  t.equal(await watch.noticed(2), 2, 'a table was written')
  folder.write({ 'routes/b.yaml': TABLE })
  t.equal(await watch.noticed(3), 3, 'a new table matched a glob')
  rmSync(folder.file('routes/b.yaml'))
  t.equal(await watch.noticed(4), 4, 'it was deleted')
  rmSync(folder.file('one.yaml'))
  t.equal(await watch.noticed(5), 5, 'a named table was deleted')
  folder.write({ 'one.yaml': TABLE })
  t.equal(await watch.noticed(6), 6, 'it was restored')
})

t.test('a file replaced by another of the same size and time', async (t) => {
  const { folder, watch } = await watched(t)
  const { atime, mtime } = statSync(folder.file('one.yaml'))
  folder.write({ 'new.yaml': TABLE.replace('/a', '/two') })
  utimesSync(folder.file('new.yaml'), atime, mtime)
  renameSync(folder.file('new.yaml'), folder.file('one.yaml'))
  t.equal(await watch.noticed(1), 1)
})

t.test('a file rewritten with the same size, and its time set back', async (t) => {
  const { folder, watch } = await watched(t)
  const { atime, mtime } = statSync(folder.file('one.yaml'))
  // The kernel's times of files have steps of 10 ms.
  await sleep(20)
  utimesSync(folder.file('one.yaml'), atime, mtime)
  t.equal(await watch.noticed(1), 1, 'a touch counts')
  folder.write({ 'one.yaml': TABLE.replace('/a', '/two') })
  utimesSync(folder.file('one.yaml'), atime, mtime)
  t.equal(await watch.noticed(2), 2)
})

t.test('a symbolic link in the path that is switched, as by updates of a mounted ConfigMap', async (t) => {
  const folder = new Folder(t, { 'v1/g.yaml': BASE, 'v2/g.yaml': BASE })
  symlinkSync('v1', folder.file('data'))
  symlinkSync('data/g.yaml', folder.file('gateway.config.yaml'))
  const config = await load(folder)
  const watch = new Watched(t, config.files, config.signature)
  symlinkSync('v2', folder.file('next'))
  renameSync(folder.file('next'), folder.file('data'))
  t.equal(await watch.noticed(1), 1)
})

t.test('a change between loading and watching', async (t) => {
  const { folder, config } = await watched(t)
  folder.write({ 'routes/b.yaml': TABLE })
  const late = new Watched(t, config.files, config.signature)
  t.equal(await late.noticed(1), 1)
})

t.test('without a change nothing is noticed, also in a folder named like a glob', async (t) => {
  const folder = new Folder(t)
  for (const name of ['plain', 'od[d]{a,b}(c)*?!+@']) {
    folder.write({
      [`${name}/gateway.config.yaml`]: `${BASE}routes: ['r/*.yaml', 'r/a.yaml']\n`,
      [`${name}/r/a.yaml`]: TABLE,
    })
    const config = await load(folder, `${name}/gateway.config.yaml`)
    const watch = new Watched(t, config.files, config.signature)
    const clock = new Watched(t, [folder.file('clock')], 'never seen')
    t.equal(await clock.noticed(1), 1)
    t.equal(watch.changes, 0, name)
    folder.write({ [`${name}/r/b.yaml`]: TABLE })
    t.equal(await watch.noticed(1), 1, `${name}: a new table`)
  }
})

t.test('the list of files is read each time', async (t) => {
  const folder = new Folder(t, { a: '1', b: '1' })
  let files = [folder.file('a')]
  let changes = 0
  const watch = watchConfig(
    () => files,
    () => {
      changes++
      files = [folder.file('b')]
    },
    'never seen',
  )
  t.teardown(() => watch.close())
  await untilStepped(time, () => changes === 2)
  folder.write({ b: '2' })
  await untilStepped(time, () => changes === 3)
})

t.test('after close nothing is noticed', async (t) => {
  const { folder, config, watch } = await watched(t)
  const other = new Watched(t, config.files, config.signature)
  watch.close()
  folder.write({ 'one.yaml': `${TABLE}#\n` })
  t.equal(await other.noticed(1), 1)
  t.equal(watch.changes, 0)
})

t.test('closed during a check', async (t) => {
  const folder = new Folder(t, { a: '1' })
  let looks = 0
  const watch = watchConfig(
    () => {
      looks++
      watch.close()
      return [folder.file('a')]
    },
    () => t.fail('noticed'),
    'never seen',
  )
  const clock = new Watched(t, [folder.file('clock')], 'never seen')
  t.equal(await clock.noticed(1), 1)
  t.equal(looks, 1)
})
