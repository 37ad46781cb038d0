/** The examples of `configuration.md`, all of them in one configuration, pass `seatgate check`. */

import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { stringify } from 'yaml'
import { gatewaySchema } from '../../docs/generate/schema.ts'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { folderWith } from '../cli/command-line.ts'
import { seatgateHere } from '../cli/in-process.ts'
import { newKey } from '../identity/support.ts'
import { variablesOf } from './configuration.ts'
import { root } from './pages.ts'

/** Where the first example of a setting rules out that of another. */
const INSTEAD: Readonly<Record<string, unknown>> = {
  targets: ['https://127.0.0.1:9001'],
  redirect_uri: 'https://gateway.example.com/_seatgate/auth/oidc/callback',
  user: 'userName',
}
/** Another name of `api.hosts`, what the `client_key` takes the place of, and what excludes `routes`. */
const LEFT_OUT = ['api_hosts', 'client_secret', 'id_token_signing_alg', 'tables']

function exampleOf(name: string, schema: JsonSchema): unknown {
  if (name in INSTEAD) return INSTEAD[name]
  if (schema.properties !== undefined) return examplesOf(schema)
  const { additionalProperties: members } = schema
  if (typeof members === 'object') {
    return { [name === 'tenants' ? 'acme' : 'trainings']: exampleOf('', members) }
  }
  if (schema.type === 'boolean') return schema.default !== true
  return schema.examples?.[0] ?? schema.items?.examples ?? schema.default
}

function examplesOf({ properties = {} }: JsonSchema): Record<string, unknown> {
  const shown = Object.entries(properties).filter(([name]) => !LEFT_OUT.includes(name))
  return Object.fromEntries(shown.map(([name, own]) => [name, exampleOf(name, own)]))
}

t.test('all of them together', async (t) => {
  const text = stringify(examplesOf(gatewaySchema))
  const folder = folderWith(t, {
    'gateway.config.yaml': text,
    'routes/trainings.yaml': 'upstream: trainings\nroutes: { GET /a: public }\n',
    'next/trainings.yaml': 'upstream: trainings\nroutes: { GET /a: authenticated }\n',
  })
  mkdirSync(join(folder, 'tls'))
  const certificates = { 'ca.pem': 'ca.pem', 'client.pem': 'gateway.pem', 'client-key.pem': 'gateway.key' }
  for (const [from, to] of Object.entries(certificates))
    cpSync(join(root, 'test/support/servers/tls', from), join(folder, 'tls', to))
  mkdirSync(join(folder, 'keys'))
  for (const name of ['2026', 'acme-client', 'acme-id-tokens'])
    writeFileSync(join(folder, 'keys', `${name}.pem`), newKey())
  const { code, err } = await seatgateHere(folder, ['check'], variablesOf(text))
  t.equal(code, 0, err)
})
