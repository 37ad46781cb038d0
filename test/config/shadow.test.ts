/** Candidate tables: loaded, checked and watched with the rest. */

import t from 'tap'
import { loadWithTables } from '../../src/cli/load-tables.ts'
import { ConfigError, formatFault } from '../../src/config/faults.ts'
import { loadConfigWithFaults } from '../../src/config/load.ts'
import { pack, unpack } from '../../src/config/worker-copy.ts'
import { BASE, type Files, Folder } from './support.ts'

const table = (...lines: string[]) =>
  `upstream: main\nroutes:\n${lines.map((line) => `  ${line}\n`).join('')}`
const LIVE = table('GET /a: p:q')
const MAIN = `${BASE}routes: [routes/*.yaml]\n`
const WITH_SHADOW = `${MAIN}shadow: { routes: [next/*.yaml] }\n`

const files = (next: Files, main = WITH_SHADOW): Files => ({
  'gateway.config.yaml': main,
  'routes/a.yaml': LIVE,
  ...next,
})

t.test('there are none', async (t) => {
  const { config, shadowEntries } = await new Folder(t, files({}, MAIN)).load()
  t.equal(config?.shadow, null)
  t.equal(shadowEntries, null)
})

t.test('they stand beside the tables, with a hash of their own', async (t) => {
  const folder = new Folder(t, files({ 'next/a.yaml': table('GET /a: public', 'GET /b: p:q') }))
  const { config } = await folder.load()
  t.same(
    config?.routes.map(({ path }) => path),
    ['/a'],
  )
  t.same(
    config?.shadow?.routes.map(({ path, requirement }) => [path, requirement]),
    [
      ['/a', 'public'],
      ['/b', 'p:q'],
    ],
  )
  folder.write({ 'next/a.yaml': LIVE })
  const same = (await folder.load()).config
  t.equal(same?.shadow?.hash, config?.hash)
  t.equal(same?.hash, config?.hash, 'a candidate does not change the hash of the tables')
})

t.test('a file may be in both lists', async (t) => {
  const main = `${MAIN}shadow: { routes: [routes/a.yaml, next/*.yaml] }\n`
  const folder = new Folder(t, files({ 'next/b.yaml': table('GET /b: p:q') }, main))
  const { config } = await folder.load()
  t.equal(config?.routes.length, 1)
  t.equal(config?.shadow?.routes.length, 2)
  folder.write({ 'routes/a.yaml': table('GET /a: nonsense', 'GET /b//: p:q') })
  const faults = await loadWithTables(folder.file('gateway.config.yaml'), {}).then(
    () => [],
    (cause: unknown) => (cause instanceof ConfigError ? cause.faults.map(formatFault) : []),
  )
  t.equal(faults.length, 2, 'each fault is reported once')
})

t.test('faults of them are faults of the configuration', async (t) => {
  const at = async (places: string, next: Files, main?: string) => {
    const folder = new Folder(t, files(next, main))
    const cause: unknown = await loadWithTables(folder.file('gateway.config.yaml'), {}).then(
      () => null,
      (thrown: unknown) => thrown,
    )
    folder.areAt(t, cause instanceof ConfigError ? cause.faults : [], places)
  }
  await at('4:20', {})
  await at('next/a.yaml:3:11', { 'next/a.yaml': table('GET /a: nonsense') })
  await at('next/a.yaml:4:3', { 'next/a.yaml': table('GET /a/{x}: p:q', 'GET /a/{y}: p:q') })
  await at('next/a.yaml:3:3', { 'next/a.yaml': table('GET /v1/seats: p:q') })
  await at('4:1', {}, `${MAIN}shadow: {}\n`)
  await at('4:19', {}, `${MAIN}shadow: { routes: [] }\n`)
  await at('4:1 4:11', {}, `${MAIN}shadow: { route: [a] }\n`)
})

t.test('warnings of them are warnings, once', async (t) => {
  const main = `${MAIN}shadow: { routes: [routes/a.yaml, next/*.yaml] }\n`
  const folder = new Folder(t, {
    ...files({ 'next/b.yaml': table('GET /*: public') }, main),
    'routes/a.yaml': table('GET /b/:id: p:q'),
  })
  const { warnings } = await loadWithTables(folder.file('gateway.config.yaml'), {})
  t.same(
    warnings.map(({ code }) => code).filter((code) => code !== 'secret_literal'),
    ['foreign_parameter', 'public_everything'],
  )
})

t.test('the files are watched, new ones among them', async (t) => {
  const folder = new Folder(t, files({ 'next/a.yaml': LIVE }))
  const before = await folder.load()
  t.ok(before.files.includes(`${folder.path}/next/*.yaml`))
  folder.write({ 'next/a.yaml': table('GET /a: r:s') })
  const after = await folder.load()
  t.not(after.config?.signature, before.config?.signature)
})

t.test('they are read without the variables of other settings', async (t) => {
  const main = WITH_SHADOW.replace('http://127.0.0.1:9001', '${NOT_SET}')
  const folder = new Folder(t, files({ 'next/a.yaml': LIVE }, main))
  const { config } = await loadConfigWithFaults(folder.file('gateway.config.yaml'), null)
  t.equal(config?.shadow?.routes.length, 1)
})

t.test('workers get them', async (t) => {
  const { config } = await new Folder(t, files({ 'next/a.yaml': table('GET /b: p:q') })).load()
  if (config === null) throw new Error('faults')
  t.same(unpack(structuredClone(pack(config))).shadow, config.shadow)
})
