/** The schemas serve editors, the parsers serve the gateway: the schemas recommend nothing that the parsers refuse. */

import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Ajv } from 'ajv'
import t from 'tap'
import { isPermission } from '../../seats-admin/model/permission.ts'
import { isSpaceId } from '../../seats-admin/model/space.ts'
import { isTenantId } from '../../seats-admin/model/tenant.ts'
import { address, origin } from '../../src/config/addresses.ts'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import gateway from '../../src/config/gateway.schema.json' with { type: 'json' }
import routes from '../../src/config/routes.schema.json' with { type: 'json' }
import { duration, size } from '../../src/config/units.ts'
import { editorSchemas } from '../../docs/generate/schema.ts'

const { properties } = gateway
const tenant = properties.tenants.additionalProperties.properties
const upstream = properties.upstreams.additionalProperties.properties
const route = routes.properties.routes.additionalProperties
const reads = (read: (text: string) => unknown) => (text: string) => !(read(text) instanceof InvalidValue)
const isRequirement = (text: string) => isPermission(text) || text === 'public' || text === 'authenticated'

const PAIRS: [name: string, pattern: string, accepts: (text: string) => boolean][] = [
  ['address', properties.ops.pattern, reads(address)],
  ['duration', properties.drain.pattern, reads(duration)],
  ['duration of a route', route.properties.response_timeout.pattern, reads(duration)],
  ['size', route.properties.max_body.pattern, (text) => text === 'unlimited' || reads(size)(text)],
  ['tenant', properties.tenants.propertyNames.pattern, isTenantId],
  ['space', tenant.admin_space.pattern, isSpaceId],
  ['target', upstream.targets.items.pattern, reads(origin)],
  ['permission', route.properties.permission.pattern, isRequirement],
  ['route', route.pattern, isRequirement],
]

const SAMPLES =
  `0.0.0.0:8080 [::1]:8080 localhost:1 :80 8080 250ms 30s 5m 1h 7d 01s 1.5h 10 64KiB 10MiB 1GiB 5TiB 0B 10MB
unlimited acme a-b Acme -a a_b ${'a'.repeat(64)} admin a.b~c a:b .a http://a https://a:1 http://a/b http://u@a ftp://a
trainings:read * a:* public authenticated Public a:b:c`.split(/\s+/)

t.test('they are JSON schemas, in the strict mode of the validator', async (t) => {
  const ajv = new Ajv({ strict: true, allowUnionTypes: true, logger: false })
  for (const schema of [gateway, routes]) {
    t.ok(ajv.validateSchema(schema), ajv.errorsText())
    t.doesNotThrow(() => ajv.compile(schema))
  }
})

t.test('the files for editors are what the declarations say', async (t) => {
  for (const [file, text] of editorSchemas)
    t.equal(readFileSync(file, 'utf8'), text, `${basename(file)}: run "npm run docs"`)
})

t.test('no pattern refuses a valid value', async (t) => {
  for (const [name, pattern, accepts] of PAIRS) {
    const accepted = SAMPLES.filter(accepts)
    t.ok(accepted.length > 0, `${name} has valid samples`)
    for (const text of accepted) t.match(text, new RegExp(pattern, 'u'), `${name}: ${text}`)
  }
})

t.test('patterns refuse clearly invalid values, and permit variables', async (t) => {
  for (const [name, pattern, accepts] of PAIRS) {
    const refused = SAMPLES.filter((text) => !accepts(text) && !new RegExp(pattern, 'u').test(text))
    t.ok(refused.length > 5, name)
    if (name !== 'tenant') t.match(`\${NAME:-x}`, new RegExp(pattern, 'u'), name)
  }
})

t.test('every setting has a description, and valid examples', async (t) => {
  for (const [key, value] of Object.entries(properties)) t.ok(value.description, key)
  for (const [key, value] of Object.entries(upstream)) t.ok(value.description, key)
  for (const [key, value] of Object.entries(tenant.token.properties)) t.ok(value.description, key)
  for (const [key, value] of Object.entries(properties.limits.properties)) t.ok(value.description, key)
  for (const [key, value] of Object.entries(properties.memory.properties)) t.ok(value.description, key)
})

t.test('the shipped files name their schema for editors', async (t) => {
  const files = ['gateway.config.yaml', ...globSync('routes/*.yaml')]
  t.ok(files.length >= 2)
  for (const file of files) {
    const schema = /^# yaml-language-server: \$schema=(\S+)$/m.exec(readFileSync(file, 'utf8'))?.[1]
    t.ok(schema !== undefined && existsSync(join(dirname(file), schema)), file)
  }
})
