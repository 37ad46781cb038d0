/** Writes the types of the answers that the console reads, from the OpenAPI document. */

import { type DocumentedSchema, documentedOperations, documentedSchemas } from './openapi.ts'

/** The endpoints of sign-in that the console calls. */
const SIGN_IN = ['GET /auth/oidc/me', 'POST /auth/oidc/login', 'POST /auth/oidc/logout']

/** The file of the types, from the root of the repository. */
export const ANSWER_TYPES = 'seats-admin/console/answers.d.ts'

export function answerTypes(): string {
  const operations = documentedOperations().filter(
    ({ name }) => SIGN_IN.includes(name) || / \/v1\/(?!openapi)/.test(name),
  )
  const answers = operations.map(({ name, answers: [answer] }) => {
    const key = name.includes('{') ? `[operation: \`${name.replace(/\{\w+\}/g, '${string}')}\`]` : `'${name}'`
    return `  ${key}: ${answer?.schema == null ? 'null' : typeOf(answer.schema)}`
  })
  const text = [
    '/** The answers of the gateway, from its OpenAPI document. Written by `npm run docs`. */',
    `/** By operation. A variable segment of a path is any text. */\nexport interface Answers {\n${answers.join('\n')}\n}`,
    `/** The body of the answer to an operation, such as \`GET /v1/seats\`. */
export type Answer<Operation extends string> = Operation extends keyof Answers ? Answers[Operation] : never`,
    `/** An item of a list. */
export type Item<Path extends string> = Answer<\`GET \${Path}\`> extends { data: (infer T)[] } ? T : never`,
  ]
  const schemas = documentedSchemas()
  const named = new Set<string>()
  for (const part of text) namesIn(part, schemas, named)
  const types = [...named].sort().map((name) => {
    const type = typeOf(schemas[name] ?? {})
    return `export interface ${name} ${type}`
  })
  return `${[...text, ...types].join('\n\n')}\n`
}

/** Adds the schemas that a text names, and those that they name. */
function namesIn(
  text: string,
  schemas: Readonly<Record<string, DocumentedSchema>>,
  named: Set<string>,
): void {
  for (const [name] of text.matchAll(/(?<!['/\w])[A-Z]\w+/g)) {
    const schema = schemas[name]
    if (schema === undefined || named.has(name)) continue
    named.add(name)
    namesIn(typeOf(schema), schemas, named)
  }
}

function typeOf(schema: DocumentedSchema): string {
  const { $ref, anyOf, enum: values, type, items, properties, additionalProperties: others } = schema
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? ''
  if (anyOf !== undefined) return anyOf.map(typeOf).join(' | ')
  if (values !== undefined) return values.map((value) => literal(value)).join(' | ')
  if (Array.isArray(type)) return type.map((each: string) => typeOf({ ...schema, type: each })).join(' | ')
  if (type === 'array') {
    const item = typeOf(items ?? {})
    return item.includes(' ') ? `(${item})[]` : `${item}[]`
  }
  if (type === 'integer') return 'number'
  if (type !== 'object') return String(type ?? 'unknown')
  if (properties === undefined)
    return `Record<string, ${typeof others === 'object' ? typeOf(others) : 'unknown'}>`
  const members = Object.entries(properties).map(([name, member]) => {
    const isRequired = schema.required?.includes(name) === true
    return `${name}${isRequired ? '' : '?'}: ${typeOf(member)}`
  })
  return `{ ${members.join('; ')} }`
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
