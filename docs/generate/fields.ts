/** Tables of the members of a Schema Object, and of parameters. */

import { type DocumentedParameter, type DocumentedSchema, resolved } from './openapi.ts'
import { code, table } from './regions.ts'

/** Of a body or an answer: one row a member. @param must the heading of the column for required members */
export function fieldTable({ properties = {}, required = [] }: DocumentedSchema, must: string): string {
  const rows = Object.entries(properties).map(([name, field]) => [
    code(name),
    typeOf(field),
    required.includes(name) ? 'yes' : 'no',
    meaningOf(field),
  ])
  return table(['field', 'type', must, 'meaning'], rows)
}

/** Of the path all parameters are required, of headers and the query none. */
export function parameterTable(parameters: readonly DocumentedParameter[]): string {
  const rows = parameters.map(({ name, in: place, description = '', schema }) => {
    const { type, items } = schema
    const repeats = type === 'array' && items !== undefined
    return [
      code(name),
      place,
      typeOf(repeats ? items : schema),
      `${meaningOf({ ...schema, description })}${repeats ? ' May occur more than once.' : ''}`,
    ]
  })
  return table(['parameter', 'in', 'type', 'meaning'], rows)
}

/** A link to the section of a named schema. @param to `#/components/schemas/Seat` */
export function reference(to: string): string {
  const name = to.slice(to.lastIndexOf('/') + 1)
  return `[${name}](#${name.toLowerCase()})`
}

/** The named schemas that these refer to, each once, in order. */
export function namedIn(schemas: readonly (DocumentedSchema | null)[]): DocumentedSchema[] {
  const found = new Map<string, DocumentedSchema>()
  const visit = (schema: DocumentedSchema | null | undefined) => {
    if (schema === null || schema === undefined) return
    const { $ref } = schema
    if ($ref !== undefined) {
      if (found.has($ref)) return
      const named = resolved<DocumentedSchema>({ $ref })
      found.set($ref, named)
      return visit(named)
    }
    const { items, properties = {}, anyOf = [] } = schema
    for (const each of [items, ...Object.values(properties), ...anyOf]) visit(each)
  }
  for (const schema of schemas) visit(schema)
  return [...found.values()]
}

const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'text',
  integer: 'number',
  boolean: 'true or false',
  object: 'map',
}

function typeOf({
  $ref,
  type = [],
  items,
  maxItems,
  uniqueItems,
  enum: values,
  anyOf,
  ...more
}: DocumentedSchema): string {
  if ($ref !== undefined) return reference($ref)
  if (values !== undefined) return values.map((each) => code(String(each))).join(', ')
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' or ')
  if (items !== undefined) {
    const most = maxItems === undefined ? '' : `, at most ${maxItems.toLocaleString('en')}`
    return `list of ${typeOf(items)}${most}${uniqueItems === true ? ', each once' : ''}`
  }
  if (more.format === 'date-time') return [type].flat().includes('null') ? 'time or null' : 'time'
  const { minimum, maximum } = more
  const range = maximum === undefined ? '' : ` (${minimum} to ${maximum})`
  return (
    [type]
      .flat()
      .map((each) => TYPE_NAMES[each] ?? each)
      .join(' or ') + range
  )
}

function meaningOf({ $ref, description = '', items, default: fallback }: DocumentedSchema): string {
  const ofItems = items?.description
  const sentences = [
    $ref === undefined ? description : (resolved<DocumentedSchema>({ $ref }).description ?? ''),
    ofItems === undefined ? '' : `Each: ${ofItems.charAt(0).toLowerCase()}${ofItems.slice(1)}`,
    fallback === undefined ? '' : `Default: ${code(String(fallback))}.`,
  ]
  return sentences.filter((each) => each !== '').join(' ')
}
