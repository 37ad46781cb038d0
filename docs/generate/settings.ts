/** The tables of `configuration.md`: one row a setting, from the JSON Schemas. */

import { code, table } from './regions.ts'
import { gatewaySchema, referenceOf, resolved, routesSchema, type Schema } from './schema.ts'

const HEAD = ['key', 'type', 'default', 'example', 'meaning']
/** Definitions of single values, which have a form of their own. */
const SCALARS = new Set(['address', 'duration', 'size', 'permission'])

interface Setting {
  readonly key: string
  readonly schema: Schema
  readonly type: string
  readonly required: boolean
}

/** Of the main file: the top level, and one table a section. */
export function gatewaySettings(): string {
  const settings = settingsOf(gatewaySchema, gatewaySchema, '')
  const groups = Map.groupBy(settings, ({ key }) => sectionOf(key))
  const tables = [...groups].map(([section, of]) => {
    const heading = section === '' ? '### Top level' : `### ${code(section)}`
    return `${heading}\n\n${table(HEAD, of.map(row))}`
  })
  return tables.join('\n\n')
}

/** Of a route table. */
export function routeSettings(): string {
  const entry = routesSchema.properties?.['routes']?.additionalProperties
  const settings = [
    ...settingsOf(routesSchema, routesSchema, ''),
    ...settingsOf(typeof entry === 'object' ? entry : {}, routesSchema, 'routes.<METHOD /path>.'),
  ]
  return table(HEAD, settings.map(row))
}

function settingsOf(parent: Schema, root: Schema, prefix: string): Setting[] {
  return Object.entries(parent.properties ?? {}).flatMap(([name, own]) => {
    const schema = resolved(own, root)
    const setting = {
      key: `${prefix}${name}`,
      schema,
      type: typeOf(own, root),
      required: parent.required?.includes(name) ?? false,
    }
    return [setting, ...settingsWithin(schema, root, setting.key)]
  })
}

function settingsWithin(schema: Schema, root: Schema, key: string): Setting[] {
  const { additionalProperties: members, items } = schema
  const element = items === undefined ? {} : resolved(items, root)
  if (element.properties !== undefined) return settingsOf(element, root, `${key}[].`)
  if (typeof members === 'object' && root === gatewaySchema)
    return settingsOf(resolved(members, root), root, `${key}.<${key === 'tenants' ? 'id' : 'name'}>.`)
  return schema.properties === undefined ? [] : settingsOf(schema, root, `${key}.`)
}

/** `limits.max_body` belongs to `limits`, which itself stands at the top. */
function sectionOf(key: string): string {
  return key.split('.').slice(0, -1).join('.')
}

function row({ key, schema, type, required }: Setting): string[] {
  const { meaning, computed } = partsOf(schema.description ?? '')
  const fallback = schema.default === undefined ? computed : valueText(schema.default)
  const shown = required ? 'required' : (fallback ?? 'none')
  return [code(key), type, marked(shown), exampleOf(schema), marked(meaning)]
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

function typeOf(own: Schema, root: Schema): string {
  const reference = referenceOf(own)
  if (reference !== null && SCALARS.has(reference)) return reference
  const { title, type = 'object', enum: values, minimum, maximum, items } = resolved(own, root)
  if (title !== undefined) return title
  if (values !== undefined) return values.map((value) => code(String(value))).join(', ')
  if (type === 'array') return `list of ${items === undefined ? 'values' : typeOf(items, root)}`
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

function exampleOf({ examples, default: fallback, items, enum: values, type }: Schema): string {
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
