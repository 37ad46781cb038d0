/** `.env` beside the configuration file. */

import { chmodSync, mkdirSync, symlinkSync } from 'node:fs'
import t, { type Test } from 'tap'
import { formatFault } from '../../src/config/faults.ts'
import { type Files, Folder } from './support.ts'

const MAIN = `tenants: { acme: { token: { secrets: ['\${SECRET}'] } } }
drain: \${DRAIN:-30s}
upstreams: { main: { targets: ['\${TARGET:-http://127.0.0.1:9001}'] } }
routes: ['*.yml']
`
const FILES = {
  'gateway.config.yaml': MAIN,
  'a.yml': 'upstream: main\nroutes: { GET /a: "${NEEDS:-a:b}" }\n',
}
const VALUE = 'a secret of more than thirty-two bytes, hush'

function folderWith(t: Test, env: string | Uint8Array | null, more: Files = {}): Folder {
  const folder = new Folder(t, { ...FILES, ...more })
  if (env !== null) {
    folder.write({ '.env': env })
    chmodSync(folder.file('.env'), 0o600)
  }
  return folder
}

async function secretOf(folder: Folder, env: NodeJS.ProcessEnv = {}): Promise<string> {
  const { config, faults } = await folder.load(env)
  if (config === null) throw new Error(faults.map(formatFault).join('\n'))
  return Buffer.from(config.tenants.get('acme')?.token.secrets[0] ?? []).toString()
}

t.test('variables come from .env beside the file, in the main file and in route tables', async (t) => {
  const folder = folderWith(t, `# a comment\nexport SECRET="${VALUE}" # another\nDRAIN=7s\nNEEDS=c:d\n`)
  t.equal(await secretOf(folder), VALUE)
  const { config, warnings } = await folder.load()
  t.equal(config?.drain, 7000)
  t.equal(config?.routes[0]?.requirement, 'c:d')
  t.same(warnings, [])
})

t.test('the environment wins, also when it is empty', async (t) => {
  const folder = folderWith(t, `SECRET='${VALUE}'\nDRAIN=7s\n`)
  const other = 'another secret of more than thirty-two bytes'
  t.equal(await secretOf(folder, { SECRET: other }), other)
  t.equal((await folder.load({ DRAIN: '9s' })).config?.drain, 9000)
  t.equal((await folder.load({ DRAIN: '' })).config?.drain, 30_000, 'empty: the default')
})

t.test('a value is not expanded again, and no name is special', async (t) => {
  const folder = folderWith(t, `OTHER=x\nSECRET='${VALUE} \${OTHER}'\n__proto__=a\nconstructor=b\n`)
  t.equal(await secretOf(folder), `${VALUE} \${OTHER}`)
})

t.test('the folder of the file counts, not another one', async (t) => {
  const folder = folderWith(t, null, { 'sub/.env': `SECRET='${VALUE}'\n` })
  await folder.faultsAt(t, '1:39')
})

t.test('without .env, and with one that has not the variable', async (t) => {
  for (const env of [null, '', 'OTHER=x\n', 'SECRET\n']) await folderWith(t, env).faultsAt(t, '1:39')
})

t.test('one that cannot be read is a fault, which shows no value', async (t) => {
  const invalid = Buffer.concat([Buffer.from(`SECRET='${VALUE}'\nA=`), Buffer.from([0xff])])
  for (const env of [invalid, `SECRET='${VALUE}'\nA=\u0000`, `SECRET='${VALUE}'\nA=\u0001`])
    t.notMatch(await folderWith(t, env).faultsAt(t, '.env:2:3 1:39'), 'hush')
  const folder = new Folder(t, FILES)
  mkdirSync(folder.file('.env'))
  await folder.faultsAt(t, '.env:1:1 1:39')
  // Beside a file that is not there.
  await folder.faultsAt(t, '.env:1:1 none.yaml:1:1', {}, 'none.yaml')
  const looped = new Folder(t, FILES)
  symlinkSync('.env', looped.file('.env'))
  await looped.faultsAt(t, '.env:1:1 1:39')
})

t.test('a faulty value is not shown', async (t) => {
  const folder = folderWith(t, 'SECRET=hush\nDRAIN=hush\nTARGET=hush\nNEEDS=hush\n')
  t.notMatch(await folder.faultsAt(t, '1:39 2:8 3:32 a.yml:2:19'), 'hush')
})

t.test('a warning where group or others may read it', async (t) => {
  const folder = folderWith(t, `SECRET='${VALUE}'\n`)
  for (const [mode, expected] of [
    [0o600, []],
    [0o400, []],
    [0o700, []],
    [0o640, ['env_file_shared .env:1:1']],
    [0o604, ['env_file_shared .env:1:1']],
    [0o644, ['env_file_shared .env:1:1']],
  ] as const) {
    chmodSync(folder.file('.env'), mode)
    await folder.warningsAt(t, expected)
  }
})

t.test('it is watched, also before it is there', async (t) => {
  const folder = folderWith(t, null)
  const signature = async () => (await folder.load({ SECRET: VALUE })).config?.signature ?? ''
  const before = await signature()
  t.ok((await folder.load({ SECRET: VALUE })).files.includes(folder.file('.env')))
  t.notOk(before.includes('.env'))
  folder.write({ '.env': 'A=1\n' })
  const first = await signature()
  t.not(first, before)
  folder.write({ '.env': 'A=22\n' })
  t.not(await signature(), first)
})
