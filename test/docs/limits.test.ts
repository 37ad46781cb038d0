/** `limits.md` names keys that exist, and has their defaults. */

import t from 'tap'
import { gatewaySchema } from '../../docs/generate/schema.ts'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { textOf } from './pages.ts'

const rows = (textOf('docs/limits.md').match(/^\| .*$/gm) ?? []).map((row) =>
  row
    .slice(2, -2)
    .split(' | ')
    .map((cell) => cell.trim()),
)
const withKey = rows.filter(([, , key]) => key !== undefined && /^`[a-z_.]+[A-Z]*[a-z_.]*`$/.test(key))

/** `upstreams.NAME.uploads` → its schema. */
function schemaOf(key: string): JsonSchema | undefined {
  return key.split('.').reduce<JsonSchema | undefined>((schema, name) => {
    if (schema === undefined) return undefined
    const own = name === 'NAME' ? schema.additionalProperties : schema.properties?.[name]
    return typeof own === 'object' ? own : undefined
  }, gatewaySchema)
}

/** `60s` as the page writes it: `60 s`. */
function written(fallback: unknown): string {
  if (typeof fallback === 'number') return fallback.toLocaleString('en')
  const text = String(fallback).replace(/^(\d+)([A-Za-z]+)$/, '$1 $2')
  return text.replace(/ m$/, ' min')
}

t.test('every key exists', async (t) => {
  t.ok(withKey.length > 30, `${withKey.length} keys`)
  for (const [, , key = ''] of withKey) t.ok(schemaOf(key.replaceAll('`', '')), key)
})

t.test('defaults are those of the schema', async (t) => {
  for (const [, shown, key = ''] of withKey) {
    const fallback = schemaOf(key.replaceAll('`', ''))?.default
    if (typeof fallback === 'string' || typeof fallback === 'number') t.equal(shown, written(fallback), key)
  }
})
