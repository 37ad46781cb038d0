/** The field tables of `seats-api.md`, from the schemas that check the bodies. */

import { apiKeySchema, seatPatchSchema, seatSchema } from '../../seats-admin/api/schemas.ts'
import { code, table } from './regions.ts'

/** What a format asks for. */
const FORMATS: Readonly<Record<string, string>> = {
  name: 'text of 1 to 256 characters, without control characters, U+2028 and U+2029, and without leading or trailing white space',
  space: 'space id: 1 to 128 of `A-Z a-z 0-9 . _ ~ -`, beginning with a letter or digit',
  permission: '`<resource>:<operation>`, each of `A-Z a-z 0-9 . _ -`; or exactly `*`',
  expiry: 'date-time with an offset (RFC 3339), in the future',
}

interface Field {
  readonly type: string
  readonly format?: string
  readonly nullable?: boolean
  readonly maxItems?: number
  readonly items?: Field
}

interface Body {
  readonly properties: Readonly<Record<string, Field>>
  readonly required?: readonly string[]
}

export const bodies: Readonly<Record<string, Body>> = {
  'POST /v1/seats': seatSchema,
  'PUT /v1/seats/{seat_id}': seatPatchSchema,
  'POST /v1/api-keys': apiKeySchema,
}

export function bodyTable(endpoint: string): string {
  const { properties, required = [] } = bodies[endpoint] ?? { properties: {} }
  const rows = Object.entries(properties).map(([name, field]) => [
    code(name),
    required.includes(name) ? 'yes' : 'no',
    valueOf(field),
  ])
  return table(['field', 'required', 'value'], rows)
}

function valueOf({ type, format, nullable, maxItems, items }: Field): string {
  if (type === 'array' && items !== undefined)
    return `list of at most ${maxItems?.toLocaleString('en')}, each once: ${valueOf(items)}`
  const text = FORMATS[format ?? '']
  if (text === undefined) throw new Error(`a format that is not described: ${format}`)
  return nullable === true ? `${text}; or \`null\`` : text
}
