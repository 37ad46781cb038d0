/** `${file:PATH}`: values from files, as container runtimes mount secrets. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { substitute, variablesIn } from '../../src/config/environment.ts'
import { formatFault } from '../../src/config/faults.ts'
import { loadConfigWithFaults } from '../../src/config/load.ts'
import { ValueFiles } from '../../src/config/value-files.ts'
import { watchConfig } from '../../src/config/watch.ts'
import { holdTime, untilStepped } from '../support/held-time.ts'
import { Folder, refuses } from './support.ts'

const time = holdTime(t)

const MAIN = `tenants: { acme: { token: { secrets: ['\${file:secrets/new}', '\${file:secrets/old}'] } } }
upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }
routes: [routes/*.yaml]
`
const [NEW, OLD, NEXT] = ['new', 'old', 'next'].map((name) => `${name} secret of at least thirty-two bytes`)
const FILES = {
  'gateway.config.yaml': MAIN,
  'routes/a.yaml': 'upstream: main\nroutes: { GET /a: "${file:permission}" }\n',
  permission: 'a:b\n',
  'secrets/new': `${NEW}\n`,
  'secrets/old': `${OLD}\r\n`,
}

async function loaded(folder: Folder) {
  const { config, faults } = await folder.load()
  if (config === null) throw new Error(faults.map(formatFault).join('\n'))
  const secrets = config.tenants.get('acme')?.token.secrets ?? []
  return { config, secrets: secrets.map((each) => Buffer.from(each).toString()) }
}

t.test('paths are relative to the configuration, in tables too; one line end is removed', async (t) => {
  const folder = new Folder(t, FILES)
  const { config, secrets } = await loaded(folder)
  t.same(secrets, [NEW, OLD])
  t.equal(config.routes[0]?.requirement, 'a:b')
  const { warnings } = await folder.load()
  t.same(warnings, [], 'a value of a file is no secret in the configuration')
  for (const name of ['permission', 'secrets/new', 'secrets/old'])
    t.ok(config.files.includes(folder.file(name)), `${name} is watched`)
})

t.test('the content is taken as it is', async (t) => {
  const folder = new Folder(t, { x: '\uFEFF a ${B} \n\n', empty: '' })
  const read = (text: string) => substitute(text, { B: 'b' }, false, new ValueFiles(folder.path))
  t.equal(read('<${file:x}>'), '<\uFEFF a ${B} \n>', 'and not expanded again')
  t.equal(read(`\${file:${folder.file('x')}}`), '\uFEFF a ${B} \n', 'an absolute path')
  t.equal(read('${file:empty}'), '')
  t.equal(read('$${file:x}'), '${file:x}')
  t.equal(substitute('${file:-x}', {}), 'x', 'a variable with the name file')
  t.equal(substitute('${file}', { file: 'y' }), 'y')
  t.same(variablesIn('${file:a/b} ${file:-c} ${D:-e} $${F}'), ['file:a/b', 'file', 'D'])
})

t.test('a reference without a path, with a default or with a variable is refused', async (t) => {
  const cases = ['${file:}', '${file:x:-y}', '${file:a${B}}', '${file:x', '${file:\0}', '${file:x}']
  for (const text of cases) refuses(t, (value) => substitute(value, { B: 'b' }), text)
})

t.test('a file that cannot be used is a fault at each value that names it', async (t) => {
  const folder = new Folder(t, FILES)
  const faults = async (places: string) => {
    t.notMatch(await folder.faultsAt(t, places), /thirty-two/)
  }
  folder.write({ 'secrets/new': `${NEW}\n${'x'.repeat(64 * 1024)}` })
  await faults('1:39')
  folder.write({ 'secrets/new': Buffer.from([0x61, 0xff]) })
  await faults('1:39')
  rmSync(folder.file('secrets/new'))
  await faults('1:39')
  mkdirSync(folder.file('secrets/new'))
  await faults('1:39')
  rmSync(folder.file('secrets/new'), { recursive: true })
  execFileSync('mkfifo', [folder.file('secrets/new')])
  await faults('1:39')
  rmSync(folder.file('secrets/new'))
  symlinkSync('new', folder.file('secrets/new'))
  await faults('1:39')
  rmSync(folder.file('permission'))
  await faults('1:39 routes/a.yaml:2:19')
})

t.test('64 KiB are not too much', async (t) => {
  const folder = new Folder(t, { ...FILES, 'secrets/new': 'x'.repeat(64 * 1024) })
  t.equal((await loaded(folder)).secrets[0]?.length, 64 * 1024)
})

t.test('without an environment, no file is read', async (t) => {
  const folder = new Folder(t, {
    ...FILES,
    'routes/a.yaml': FILES['routes/a.yaml'].replace('${file:permission}', 'a:b'),
  })
  rmSync(folder.file('secrets'), { recursive: true })
  const main = folder.file('gateway.config.yaml')
  const { config, faults } = await loadConfigWithFaults(main, null)
  t.same(faults, [])
  t.same(config?.tenants.get('acme')?.token.secrets, [])
  folder.write({ 'routes/a.yaml': FILES['routes/a.yaml'] })
  const needed = await loadConfigWithFaults(main, null)
  t.match(needed.faults.map(formatFault), [/routes\/a\.yaml:2:19: .*which is not read here/])
})

t.test('a secret that is mounted by Kubernetes is read again when its links are swapped', async (t) => {
  const folder = new Folder(t, withoutSecrets())
  const mounted = folder.file('secrets')
  const version = (name: string, [first, second]: readonly (string | undefined)[]) => {
    mkdirSync(`${mounted}/..${name}`, { recursive: true })
    writeFileSync(`${mounted}/..${name}/new`, `${first}\n`)
    writeFileSync(`${mounted}/..${name}/old`, `${second}\n`)
    symlinkSync(`..${name}`, `${mounted}/..data_tmp`)
    renameSync(`${mounted}/..data_tmp`, `${mounted}/..data`)
  }
  version('1', [NEW, OLD])
  for (const name of ['new', 'old']) symlinkSync(`..data/${name}`, `${mounted}/${name}`)
  const { config, secrets } = await loaded(folder)
  t.same(secrets, [NEW, OLD])
  let changes = 0
  const watch = watchConfig(
    () => config.files,
    () => changes++,
    config.signature,
  )
  t.teardown(() => watch.close())
  version('2', [NEXT, NEW])
  rmSync(`${mounted}/..1`, { recursive: true })
  await untilStepped(time, () => changes === 1)
  t.same((await loaded(folder)).secrets, [NEXT, NEW])
  rmSync(`${mounted}/..2/old`)
  await untilStepped(time, () => changes === 2)
  await folder.faultsAt(t, '1:62')
  writeFileSync(`${mounted}/..2/old`, `${OLD}\n`)
  await untilStepped(time, () => changes === 3)
  t.same((await loaded(folder)).secrets, [NEXT, OLD])
})

function withoutSecrets() {
  const { 'secrets/new': _new, 'secrets/old': _old, ...rest } = FILES
  return rest
}
