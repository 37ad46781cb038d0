/** The regions of `seats-api.md`, from the OpenAPI document. */

import { errors, type ErrorCode } from '../../src/model/errors.ts'
import { CODE_GROUPS } from '../../src/pipeline/openapi/operation.ts'
import { builtInOperations } from '../../src/composition.ts'
import { fieldTable, namedIn, parameterTable, reference } from './fields.ts'
import { type DocumentedAnswer, type DocumentedOperation, documentedOperations } from './openapi.ts'
import { code, table } from './regions.ts'

/** Sign-in is in `sign-in.md`. */
const operations = documentedOperations().filter(({ permission }) => permission !== 'public')

/** One region for each endpoint, the list of the endpoints, and what they share. */
export function endpointRegions(): Record<string, string> {
  const own = operations.map((operation) => [operation.name, section(operation)])
  return { endpoints: overview(), ...Object.fromEntries(own), codes: codeGroups(), fields: namedFields() }
}

function overview(): string {
  const rows = operations.map(({ name, permission, summary }) => [code(name), code(permission), summary])
  return table(['endpoint', 'permission', 'does'], rows)
}

function section(operation: DocumentedOperation): string {
  const { parameters, body } = operation
  return [
    ...(parameters.length === 0 ? [] : [`Parameters:\n\n${parameterTable(parameters)}`]),
    ...(body === null ? [] : [`Body fields:\n\n${fieldTable(body, 'required')}`]),
    ...operation.answers.map(answer),
    ...operation.answers.flatMap(({ events }) => events ?? []),
    ...ownCodes(operation),
  ].join('\n\n')
}

function answer({ status, schema, headers }: DocumentedAnswer): string {
  const further = headers.length === 0 ? '' : ` Headers: ${headers.map(code).join(', ')}.`
  if (schema === null) return `Returns ${status} without a body.${further}`
  if (schema.$ref !== undefined)
    return `Returns ${status} with the fields of ${reference(schema.$ref)}.${further}`
  if (schema.properties === undefined)
    return `Returns ${status} with ${lowerFirst(schema.description ?? '')}${further}`
  return `Returns ${status} with\n\n${fieldTable(schema, 'always')}${further === '' ? '' : `\n\n${further.trim()}`}`
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1)
}

/** Without those that its kind has. */
function ownCodes({ name, codes }: DocumentedOperation): string[] {
  const declared = builtInOperations().find(({ method, path }) => `${method} ${path}` === name)
  const shared = CODE_GROUPS.filter(({ includes }) => declared !== undefined && includes(declared))
  const own = codes.filter((each) => !shared.some((group) => group.codes.includes(each)))
  return own.length === 0 ? [] : [`Error codes of this endpoint: ${linked(own)}.`]
}

function codeGroups(): string {
  return table(
    ['requests', 'codes'],
    CODE_GROUPS.map(({ of, codes }) => [of, linked(codes)]),
  )
}

function linked(codes: readonly ErrorCode[]): string {
  return codes.map((each) => `[${code(each)}](errors.md#${each}) (${errors[each].status})`).join(', ')
}

function namedFields(): string {
  const named = namedIn(operations.flatMap(({ answers }) => answers.map(({ schema }) => schema)))
  return named
    .map((schema) => `### ${schema.title}\n\n${schema.description}\n\n${fieldTable(schema, 'always')}`)
    .join('\n\n')
}
