/** No message contains a secret: not in its own setting, not in a wrong one, not in a YAML syntax error. */

import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { formatFault } from '../../src/config/faults.ts'
import { type Folder, folderOf, tableFolder } from './support.ts'

const VALUE = 'hunter2-hunter2-hunter2-hunter2-hunter2'

async function silent(t: Test, folder: Folder, name: string, env: NodeJS.ProcessEnv = {}): Promise<void> {
  const faults = (await folder.load(env)).faults.map(formatFault)
  t.ok(faults.length > 0, `${name}: has an error`)
  t.notMatch(faults.join('\n'), /hunter2/, name)
}

t.test('an invalid secret', async (t) => {
  const secrets = (list: string) => `tenants: { a: { token: { secrets: ${list} } } }\n`
  const cases = {
    short: secrets("['hunter2']"),
    twice: secrets(`['${VALUE}', '${VALUE}']`),
    'bad base64url': secrets("['base64url:hunter2!hunter2']"),
    'not a list': secrets(`'${VALUE}'`),
    'a map': secrets(`[{ '${VALUE}': 1 }]`),
    'in two tenants': `tenants: { a: { token: { secrets: ['${VALUE}'] } }, b: { token: { secrets: ['${VALUE}'] } } }\n`,
    'as a tag': secrets('[!hunter2]'),
    'as a verbatim tag': secrets('[!<hunter2> x]'),
    'as an alias': secrets('[*hunter2]'),
    'as an anchor': secrets('[&hunter2,]'),
    'as a stray token': secrets('["x" hunter2]'),
    'as a block header': 'tenants:\n  a:\n    token:\n      secrets:\n        - |hunter2\n',
    'as a directive': '%hunter2\n---\na: 1\n',
    'as an escape': secrets('["\\hunter2"]'),
    'with a reserved character': secrets('[@hunter2]'),
    'with an open quote': secrets('["hunter2]'),
    'with a ${': secrets("['hunter2${hunter2']"),
    'after a }': 'tenants: {}}hunter2\n',
  }
  for (const [name, text] of Object.entries(cases)) await silent(t, folderOf(t, text), name)
})

/** Every string setting, taken from the schema so that new ones are included. */
function textSettings(): string[] {
  const schema = JSON.parse(readFileSync('src/config/gateway.schema.json', 'utf8'))
  const found: string[] = []
  const walk = (target: Schema, path: string) => {
    if ([target.type].flat().some((type) => ['string', 'boolean', 'integer'].includes(type))) found.push(path)
    for (const [key, child] of Object.entries<Schema>(target.properties ?? {})) walk(child, `${path}/${key}`)
    if (target.items !== undefined) walk(target.items, `${path}/0`)
    if (typeof target.additionalProperties === 'object') walk(target.additionalProperties, `${path}/a`)
  }
  walk(schema, '')
  return found
}

interface Schema {
  type: string | string[]
  properties?: Record<string, Schema>
  items?: Schema
  additionalProperties?: Schema | boolean
}

t.test('a variable with a secret in any other setting', async (t) => {
  const settings = textSettings().filter((path) => !path.endsWith('/secrets/0'))
  t.ok(settings.length > 20)
  for (const path of settings) {
    const keys = path.slice(1).split('/')
    const text = keys.reduceRight(
      (inner, key) => (key === '0' ? `[${inner}]` : `{ ${key}: ${inner} }`),
      "'${S}'",
    )
    await silent(t, folderOf(t, `${text}\n`), path, { S: `${VALUE}:*/ ` })
  }
  for (const text of [
    "upstream: '${S}'\nroutes: { GET /a: public }\n",
    "upstream: main\nroutes: { GET /a: '${S}' }\n",
    "upstream: main\nroutes: { GET /a: { permission: '${S}' } }\n",
    "upstream: main\nroutes: { GET /a: { permission: a:b, max_body: '${S}' } }\n",
    "upstream: main\nroutes: { GET /a: { permission: a:b, response_timeout: '${S}' } }\n",
    "upstream: main\nroutes: '${S}'\n",
  ])
    await silent(t, tableFolder(t, text), text, { S: VALUE })
})

t.test('an alias to a secret', async (t) => {
  for (const value of [`'\${S}'`, VALUE]) {
    const text = `tenants: { a: { token: { secrets: [&s ${value}] } } }\nlisten: *s\ndrain: *s\ndefault_tenant: *s\n`
    await silent(t, folderOf(t, text), value, { S: VALUE })
  }
})

t.test('addresses with a password', async (t) => {
  const base = `tenants: { a: { token: { secrets: ['${'a'.repeat(32)}'] } } }\n`
  await silent(t, folderOf(t, `${base}store: postgres://u:hunter2@h\n`), 'store')
  await silent(t, folderOf(t, `${base}store: postgre://u:hunter2@h/d\n`), 'store of an unknown kind')
  await silent(t, folderOf(t, `${base}redis: redis://:hunter2@h:0\n`), 'redis')
  await silent(t, folderOf(t, `${base}upstreams: { u: { targets: ['http://u:hunter2@h'] } }\n`), 'target')
})

t.test('a correction is not made of a variable', async (t) => {
  const table = "host: '${S}'\nupstream: main\nroutes: { GET /a: public }\n"
  await silent(t, tableFolder(t, table), 'host', { S: 'hunter2-ü.example' })
})
