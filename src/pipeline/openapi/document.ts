/** The OpenAPI 3.1 document of the built-in endpoints, from what they declare. Pure. */

import type { BodyDescription } from '../../../seats-admin/model/endpoint-description.ts'
import type { JsonSchema } from '../../../seats-admin/model/json-schema.ts'
import { needsPermission } from '../../model/route.ts'
import { headers, parameters, securitySchemes } from './components.ts'
import { NamedSchemas } from './named-schemas.ts'
import type { Operation } from './operation.ts'
import { Responses } from './responses.ts'

const DESCRIPTION = `The endpoints that the gateway serves itself. Every answer has \`cache-control: no-store\`,
except for the keys of signed identity.
Bodies are JSON in UTF-8, without a content coding. Clients ignore fields that they do not know.
\`x-seatgate-permission\` is what a caller needs: a permission in the space of the request, \`authenticated\` (any valid
credential) or \`public\`.`

/** What the operations of a tag are about. */
const TAGS: Readonly<Record<string, string>> = {
  seats: 'Named sets of permissions, granted in spaces.',
  'api-keys': 'Credentials of programs. A key grants what its Seats grant.',
  users: 'Users who have signed in.',
  sessions: 'Sign-in sessions.',
  blocks: 'Users who are refused in the whole tenant.',
  grants: 'Seats that users have besides, until a time.',
  revocations: 'What is void, and what was cut.',
  audit: 'Changes, with who made them.',
  scim: 'The groups of SCIM, and what they would give before they do.',
  access: 'Questions about who can do what.',
  routes: 'The routes of the tables.',
  tables: 'The route tables in the store, and their versions.',
  decisions: 'The newest decisions on requests.',
  fleet: 'The gateways on one store.',
  canary: 'A route that is decided and does nothing.',
  auth: 'Sign-in, tokens and the caller.',
  jwks: 'Keys of signed identities.',
  openapi: 'This document.',
}

interface OpenApiDocument {
  readonly openapi: string
  readonly info: Readonly<Record<string, unknown>>
  /** Path → method in lower case → operation. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  readonly [member: string]: unknown
}

type OperationObject = ReturnType<typeof operationObject>

export function openApiDocument(operations: readonly Operation[]): OpenApiDocument {
  const schemas = new NamedSchemas()
  const responses = new Responses(schemas)
  const paths: Record<string, Record<string, OperationObject>> = {}
  for (const operation of operations)
    (paths[(operation.prefix ?? '') + operation.path] ??= {})[operation.method.toLowerCase()] =
      operationObject(operation, schemas, responses)
  return {
    openapi: '3.1.0',
    info: {
      title: 'Seatgate',
      version: '1',
      description: DESCRIPTION.replaceAll('\n', ' '),
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'The gateway itself.' }],
    security: Object.keys(securitySchemes).map((name) => ({ [name]: [] })),
    tags: [...new Set(operations.map(tagOf))].map((name) => ({ name, description: TAGS[name] })),
    paths,
    components: {
      schemas: schemas.components(),
      responses: responses.components(),
      parameters,
      headers,
      securitySchemes,
    },
  }
}

function operationObject(operation: Operation, schemas: NamedSchemas, responses: Responses) {
  const { body, operation: operationId, requirement, summary, details } = operation
  const given = parametersOf(operation, schemas)
  return {
    operationId,
    tags: [tagOf(operation)],
    summary,
    description: details,
    'x-seatgate-permission': requirement,
    ...(requirement === 'public' ? { security: [] } : {}),
    ...(given.length === 0 ? {} : { parameters: given }),
    ...(body === undefined ? {} : { requestBody: requestBody(body, schemas) }),
    responses: responses.of(operation),
  }
}

/**
 * `/v1/seats/{seat_id}` → `seats`; `/auth/oidc/login` → `auth`; `/.well-known/seatgate/jwks.json` → `jwks`.
 */
function tagOf({ path }: Operation): string {
  const [first = '', second = '', third = ''] = path.split('/').slice(1)
  return ({ v1: second, '.well-known': third }[first] ?? first).replace(/\.json$/, '')
}

function parametersOf(
  { requirement, params = {}, query = {}, conditional = false }: Operation,
  schemas: NamedSchemas,
): unknown[] {
  const isOfSpace = needsPermission(requirement)
  return [
    ...(isOfSpace ? [{ $ref: '#/components/parameters/Space' }] : []),
    ...(conditional ? [{ $ref: '#/components/parameters/If-Match' }] : []),
    ...Object.entries(params).map(([name, schema]) => ({
      ...parameter(name, 'path', schema, schemas),
      required: true,
    })),
    ...Object.entries(query).map(([name, { schema, repeats = false }]) =>
      repeats
        ? { ...parameter(name, 'query', repeated(schema), schemas), explode: true }
        : parameter(name, 'query', schema, schemas),
    ),
  ]
}

function repeated({ description, ...items }: JsonSchema): JsonSchema {
  return { type: 'array', items, ...(description === undefined ? {} : { description }) }
}

function parameter(
  name: string,
  place: string,
  { description, ...schema }: JsonSchema,
  schemas: NamedSchemas,
) {
  const meaning = description === undefined ? {} : { description }
  return { name, in: place, ...meaning, schema: schemas.refer(schema) }
}

const MEDIA_TYPES = {
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  event: 'application/secevent+jwt',
}

function requestBody({ schema, types = ['json'], optional = false }: BodyDescription, schemas: NamedSchemas) {
  return {
    required: !optional,
    content: Object.fromEntries(types.map((type) => [MEDIA_TYPES[type], { schema: schemas.refer(schema) }])),
  }
}
