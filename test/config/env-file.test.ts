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
  t.match((await folder.faults())[0], /SECRET, which is not set/)
})

t.test('without .env, and with one that has not the variable', async (t) => {
  for (const env of [null, '', 'OTHER=x\n', 'SECRET\n'])
    t.match((await folderWith(t, env).faults())[0], /^gateway\.config\.yaml:1:.*SECRET, which is not set$/)
})

t.test('one that cannot be read is a fault, which shows no value', async (t) => {
  const invalid = Buffer.concat([Buffer.from(`SECRET='${VALUE}'\nA=`), Buffer.from([0xff])])
  for (const [env, expected] of [
    [invalid, '.env:2:3: is not valid UTF-8 here'],
    [`SECRET='${VALUE}'\nA=\u0000`, '.env:2:3: has an invisible character here (U+0000)'],
  ] as const) {
    const faults = await folderWith(t, env).faults()
    t.equal(faults[0]?.slice(0, expected.length), expected)
    t.notOk(faults.join('\n').includes('hush'))
  }
  const folder = new Folder(t, FILES)
  mkdirSync(folder.file('.env'))
  t.equal((await folder.faults())[0], '.env:1:1: is a folder, not a file')
  t.equal((await folder.faults({}, 'none.yaml')).length, 2, 'beside a file that is not there')
  const looped = new Folder(t, FILES)
  symlinkSync('.env', looped.file('.env'))
  t.equal((await looped.faults())[0], '.env:1:1: is a symbolic link that points to itself')
})

t.test('a faulty value is not shown', async (t) => {
  const faults = await folderWith(t, 'SECRET=hush\nDRAIN=hush\nTARGET=hush\nNEEDS=hush\n').faults()
  t.equal(faults.length, 4)
  t.notOk(faults.join('\n').includes('hush'))
})

t.test('a warning where group or others may read it', async (t) => {
  const folder = folderWith(t, `SECRET='${VALUE}'\n`)
  for (const [mode, expected] of [
    [0o600, []],
    [0o400, []],
    [0o700, []],
    [0o640, [/\.env:1:1: .*chmod 600/]],
    [0o604, [/\.env:1:1: .*chmod 600/]],
    [0o644, [/\.env:1:1: .*chmod 600/]],
  ] as const) {
    chmodSync(folder.file('.env'), mode)
    const { config, warnings } = await folder.load()
    t.ok(config)
    t.equal(warnings.length, expected.length, mode.toString(8))
    t.match(warnings.map(formatFault), expected, mode.toString(8))
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
