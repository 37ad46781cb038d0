/** The Helm chart as far as it can be read without a template engine; `helm.slow.test.ts` renders it. */

import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import t from 'tap'
import { parse } from 'yaml'
import { root } from '../docs/pages.ts'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { gatewayFile } from '../../src/config/main-file.ts'
import { defaults, fileOf, FRONT_TLS, MUCH, schema, templates, VALUES, withDefaults } from './chart.ts'

const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema)
const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'))

t.test('its version is that of Seatgate', async (t) => {
  t.match(parse(fileOf('Chart.yaml')), { apiVersion: 'v2', name: 'seatgate', appVersion: version, version })
})

t.test('the schema of the values', async (t) => {
  t.ok(validate(withDefaults(VALUES)), JSON.stringify(validate.errors))
  const faulty: [string, object][] = [
    ['no image', { image: { repository: '' } }],
    ['no Secret', { secretName: '' }],
    ['an unknown key', { replica: 3 }],
    ['a key that the chart sets', { config: { listen: '0.0.0.0:80' } }],
    ['no listener', { listen: [] }],
    ['no listeners, for whose ports the NetworkPolicy would open all', { listen: null }],
    ['HTTP/2 without TLS', { listen: [{ name: 'http', port: 8080, http2: true }] }],
    ['the port of the operators', { listen: [{ name: 'http', port: 9090 }] }],
    ['the name of another port', { listen: [{ name: 'ops', port: 8080 }] }],
    ['an address', { listen: [{ name: 'http', address: '[::]:8080' }] }],
    ['a duration in place of seconds', { drain: '30s' }],
    ['a name that is no file', { routes: { 'a/b': { upstream: 'a', routes: {} } } }],
  ]
  for (const [what, values] of faulty)
    t.notOk(validate(withDefaults(values, withDefaults(VALUES))), `${what} is refused`)
  t.notOk(validate(defaults), 'without values of the installation')
})

t.test('the listeners have each key that those of the configuration have', async (t) => {
  const properties = gatewayFile.schema.properties?.['listen']?.items?.properties ?? {}
  const known = Object.keys(properties).filter((key) => key !== 'address')
  t.ok(known.includes('tls'))
  const own = (schema.properties['listen'] as JsonSchema).items?.properties ?? {}
  for (const key of known) t.ok(key in own, key)
  t.same(
    Object.keys(FRONT_TLS).sort(),
    Object.keys(properties['tls']?.properties ?? {}).sort(),
    'the test has all',
  )
  t.ok(validate(withDefaults(MUCH)), JSON.stringify(validate.errors))
})

t.test('every value has a default, and is used', async (t) => {
  const used = new Set<string>()
  for (const template of templates)
    for (const [, path = ''] of fileOf(template).matchAll(/\.Values\.([\w.]+)/g)) used.add(path)
  const unset = new Set(['nameOverride', 'fullnameOverride'])
  for (const path of used) t.ok(unset.has(path) || valueAt(path) !== undefined, path)
  for (const key of Object.keys(defaults)) {
    t.ok(key in schema.properties, `${key} is in the schema`)
    t.ok(
      [...used].some((path) => path === key || path.startsWith(`${key}.`)),
      `${key} is used`,
    )
  }
})

t.test('every template that is included is defined', async (t) => {
  const all = templates.map(fileOf).join('\n')
  const defined = new Set([...all.matchAll(/define "([^"]+)"/g)].map(([, name]) => name))
  for (const [, name = ''] of all.matchAll(/include "([^"]+)"/g)) t.ok(defined.has(name), name)
})

function valueAt(path: string): unknown {
  return path.split('.').reduce<unknown>((value, key) => Object(value)[key], defaults)
}
