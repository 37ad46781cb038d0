/** The OpenAPI document describes the built-in routes, all of them and nothing else. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { entriesOf } from '../../../src/access/openapi/operation-entries.ts'
import { readOperations } from '../../../src/access/openapi/operations.ts'
import { errors } from '../../../src/model/errors.ts'
import { builtInOperations, builtInPaths } from '../../../src/composition.ts'
import { openApiDocument } from '../../../src/pipeline/openapi/document.ts'
import type { Operation } from '../../../src/pipeline/openapi/operation.ts'
import { CONFIG, folderWith, ROUTES } from '../../cli/command-line.ts'
import { seatgateHere } from '../../cli/in-process.ts'

const operations = builtInOperations()
const document = openApiDocument(operations)
const text = JSON.stringify(document)

/** `GET /v1/seats seats:list` */
const builtIn = builtInPaths()
  .map(({ method, path, requirement }) => `${method} ${path} ${requirement}`)
  .toSorted()

t.test('the importer makes the built-in routes of it, with their permissions', async (t) => {
  const { entries, remarks } = entriesOf(readOperations(JSON.parse(text)), '{resource}:{verb}')
  t.same(entries.map(({ method, path, permission }) => `${method} ${path} ${permission}`).toSorted(), builtIn)
  t.ok(entries.every(({ isFixed, review }) => isFixed && review === ''))
  t.same(remarks, [])
})

t.test('so does the command', async (t) => {
  // Of another gateway: this one's own paths are elsewhere.
  const config = `${CONFIG}api: { prefix: /_seatgate, auth_prefix: /_seatgate }\n`
  const cwd = folderWith(t, { 'gateway.config.yaml': config, 'seatgate.json': text })
  mkdirSync(join(cwd, 'out'))
  const out = ['--out', 'out/built-in.yaml']
  const made = await seatgateHere(cwd, [
    'import',
    'openapi',
    'seatgate.json',
    '--upstream',
    'trainings',
    ...out,
  ])
  t.equal(made.code, 0, made.err)
  t.match(made.out, `${builtIn.length} entries`)
  const checked = await seatgateHere(cwd, [
    ...['import', 'openapi', 'seatgate.json', '--upstream', 'trainings', '--check'],
    ...out,
  ])
  t.equal(checked.code, 0, checked.out)
  writeFileSync(
    join(cwd, 'seatgate.json'),
    text.replace('"x-seatgate-permission":"seats:list"', '"x-seatgate-permission":"public"'),
  )
  const drift = await seatgateHere(cwd, [
    ...['import', 'openapi', 'seatgate.json', '--upstream', 'trainings', '--check'],
    ...out,
  ])
  t.equal(drift.code, 3, 'a permission that differs is found')
})

t.test('`seatgate routes` lists the endpoint', async (t) => {
  const cwd = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  const { out } = await seatgateHere(cwd, ['routes', '--permission', 'authenticated'])
  t.match(out, /^GET +\/v1\/openapi\.json +authenticated +seatgate +\(built in\)$/m)
  const taken = `${ROUTES}  GET /v1/openapi.json: public\n`
  const other = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': taken })
  const collides = await seatgateHere(other, ['check'])
  t.equal(collides.code, 1)
  t.match(collides.err, 'collides with a built-in path')
})

t.test('every reference leads somewhere, and every component is in use', async (t) => {
  const references = new Set([...text.matchAll(/"\$ref":"#\/components\/([^"]+)"/g)].map(([, to]) => to))
  const { securitySchemes, ...others } = document.components
  const components = Object.entries(others).flatMap(([kind, members]) =>
    Object.keys(members).map((name) => `${kind}/${name}`),
  )
  t.same([...references].toSorted(), components.toSorted())
  t.same(
    document['security'],
    Object.keys(securitySchemes ?? {}).map((name) => ({ [name]: [] })),
  )
})

t.test('names of operations are unique', async (t) => {
  const names = operations.map(({ operation }) => operation)
  t.equal(new Set(names).size, names.length)
  for (const { operation, summary, details } of operations) {
    t.match(operation, /^[a-z][A-Za-z]+$/)
    t.match(summary, /^[A-Z].*\.$/, operation)
    t.match(details, /^[A-Z].*\.$/, operation)
    t.notMatch(details, summary, operation)
  }
})

t.test('the licence, and what the operations of each tag are about', async (t) => {
  t.match(document.info, { license: { identifier: 'Apache-2.0' } })
  for (const { name, description } of document['tags'] as { name: string; description?: string }[])
    t.match(description ?? '', /^[A-Z].*\.$/, name)
})

t.test('what a request needs', async (t) => {
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, object] of Object.entries(methods)) {
      const name = `${method} ${path}`
      const permission = object['x-seatgate-permission']
      const parameters = JSON.stringify(object.parameters ?? [])
      t.equal(parameters.includes('parameters/Space'), !/^(?:public|authenticated)$/.test(permission), name)
      t.same(object.security, permission === 'public' ? [] : undefined, name)
      for (const [, variable] of path.matchAll(/\{([^}]+)\}/g))
        t.match(parameters, `"name":"${variable}","in":"path"`, name)
      t.equal(
        '401' in object.responses,
        permission !== 'public' ||
          /\/(?:callback|refresh|validate|global-token-revocation)(?:$|\/)/.test(path),
      )
    }
})

t.test('each code stands at its own status', async (t) => {
  const responses = Object.values(document.components['responses'] ?? {}) as {
    content: Record<string, { schema: { allOf: { properties: Record<string, unknown> }[] } }>
  }[]
  t.ok(responses.length > 10)
  for (const { content } of responses) {
    const properties = content['application/problem+json']?.schema.allOf[1]?.properties as {
      status: { const: number }
      code: { enum: (keyof typeof errors)[] }
    }
    for (const code of properties.code.enum) t.equal(errors[code].status, properties.status.const, code)
  }
})

t.test('every schema compiles, and its examples are valid', async (t) => {
  const ajv = new Ajv2020({ strict: true, strictTypes: false })
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  let examples = 0
  visit(document, (schema) => {
    const { examples: shown, ...rest } = schema
    if (!Array.isArray(shown)) return
    const isValid = ajv.compile(rest)
    for (const each of shown) {
      examples++
      t.ok(isValid(each), `${JSON.stringify(each)} ${ajv.errorsText(isValid.errors)}`)
    }
  })
  t.ok(examples > 20, `${examples} examples`)
})

t.test('two schemas of one name are a mistake', async (t) => {
  const [first] = operations
  const answer = { title: 'Twice', type: 'object' }
  const twice = (one: object, other: object) =>
    openApiDocument([
      { ...(first as Operation), answers: { 200: one } },
      { ...(first as Operation), path: '/v1/other', answers: { 200: other } },
    ])
  t.throws(() => twice(answer, { ...answer, description: 'x' }), /two schemas have the title Twice/)
  t.doesNotThrow(() => twice(answer, answer))
})

function visit(value: unknown, of: (object: Record<string, unknown>) => void): void {
  if (Array.isArray(value)) for (const each of value) visit(each, of)
  else if (typeof value === 'object' && value !== null) {
    of(value as Record<string, unknown>)
    for (const each of Object.values(value)) visit(each, of)
  }
}
