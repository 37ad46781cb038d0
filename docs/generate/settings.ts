/** The tables of `configuration.md`: one row a setting, from the JSON Schemas. */

import { code, table } from './regions.ts'
import type { JsonSchema } from '../../seats-admin/model/json-schema.ts'
import { gatewaySchema, routesSchema } from './schema.ts'

const HEAD = ['key', 'type', 'default', 'example', 'meaning']

interface Setting {
  readonly key: string
  readonly schema: JsonSchema
  readonly required: boolean
}

/** The settings of the main file: the top level, and one table for each section. */
export function gatewaySettings(): string {
  const groups = Map.groupBy(settingsOf(gatewaySchema, ''), ({ key }) => sectionOf(key))
  const tables = [...groups].map(([section, of]) => {
    const heading = section === '' ? '### Top level' : `### ${code(section)}`
    return `${heading}\n\n${table(HEAD, of.map(row))}`
  })
  return tables.join('\n\n')
}

/** The settings of a route table. */
export function routeSettings(): string {
  return table(HEAD, settingsOf(routesSchema, '').map(row))
}

/** What a description of a map calls its names. */
const NAMES: Readonly<Record<string, string>> = { tenants: 'id', routes: 'METHOD /path' }

function settingsOf(parent: JsonSchema, prefix: string): Setting[] {
  return Object.entries(parent.properties ?? {}).flatMap(([name, schema]) => {
    const key = `${prefix}${name}`
    const required = parent.required?.includes(name) ?? false
    return [{ key, schema, required }, ...settingsWithin(schema, key)]
  })
}

function settingsWithin(
  { additionalProperties: members, items, ...schema }: JsonSchema,
  key: string,
): Setting[] {
  if (items?.properties !== undefined) return settingsOf(items, `${key}[].`)
  if (typeof members === 'object') return settingsOf(members, `${key}.<${NAMES[key] ?? 'name'}>.`)
  return settingsOf(schema, `${key}.`)
}

/** `limits.max_body` belongs to `limits`, which itself stands at the top. */
function sectionOf(key: string): string {
  return key.split('.').slice(0, -1).join('.')
}

function row({ key, schema, required }: Setting): string[] {
  const { meaning, computed } = partsOf(schema.description ?? '')
  const fallback = schema.default === undefined ? computed : valueText(schema.default)
  const shown = required ? 'required' : (fallback ?? 'none')
  return [code(key), typeOf(schema), marked(shown), exampleOf(schema), marked(meaning)]
}

/** Descriptions are plain text for editors: names of keys and codes become code, names of pages become links. */
function marked(text: string): string {
  if (text.includes('`')) return text
  return text
    .replaceAll(/\b[a-z-]+\.md\b/g, '[$&]($&)')
    .replaceAll(
      /(?<![\w(/[.-])(?:[a-z]+(?:[._][a-z]+)+(?!\.md|\w)|\/[a-z]+z\b|\/metrics|\$\{\w+\}|(?<=\b503 )unavailable)/g,
      (found) => (found.endsWith('.md') ? found : code(found)),
    )
}

/** A default that depends on other settings stands in the description: "Default: half of connections." */
function partsOf(description: string): { meaning: string; computed: string | null } {
  const [whole, computed] = /(?:^| )Default: (.+?)\.(?= [A-Z]|$)/.exec(description) ?? []
  if (whole === undefined) return { meaning: description, computed: null }
  return { meaning: description.replace(whole, ''), computed: computed ?? null }
}

function typeOf({ title, type = 'object', enum: values, minimum, maximum, items }: JsonSchema): string {
  if (title !== undefined) return title
  if (values !== undefined) return values.map((value) => code(String(value))).join(', ')
  if (type === 'array') return `list of ${items === undefined ? 'values' : typeOf(items)}`
  const names = [type].flat().map((each) => TYPE_NAMES[each] ?? each)
  return names.map((name) => (name === 'number' ? `number${range(minimum, maximum)}` : name)).join(' or ')
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  object: 'map',
  array: 'list',
  integer: 'number',
  boolean: 'true or false',
}

function range(minimum: number | undefined, maximum: number | undefined): string {
  if (maximum !== undefined) return ` (${minimum ?? 0} to ${maximum})`
  return minimum === undefined ? '' : ` (${minimum} or more)`
}

function exampleOf({ examples, default: fallback, items, enum: values, type }: JsonSchema): string {
  if (examples !== undefined) return examples.map(valueText).join(', ')
  if (items?.examples !== undefined) return valueText(items.examples)
  if (type === 'boolean') return valueText(fallback !== true)
  const text = fallback ?? values?.[0]
  return text === undefined || type === 'object' ? '' : valueText(text)
}

function valueText(value: unknown): string {
  const isEmpty = typeof value === 'object' && value !== null && Object.keys(value).length === 0
  return isEmpty ? 'none' : code(flowText(value))
}

/** As YAML writes it in one line, apart from quotes. */
function flowText(value: unknown): string {
  if (typeof value !== 'object' || value === null) return String(value)
  if (Array.isArray(value)) return `[${value.map(flowText).join(', ')}]`
  return `{ ${Object.entries(value)
    .map(([key, each]) => `${key}: ${flowText(each)}`)
    .join(', ')} }`
}
