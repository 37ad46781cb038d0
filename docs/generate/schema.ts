/** The JSON Schemas of the configuration as files for editors, and as data. */

import { fileURLToPath } from 'node:url'
import { gatewayFile } from '../../src/config/main-file.ts'
import { policyFile } from '../../src/config/policy-file.ts'
import { seatsFile } from '../../src/config/seats-file.ts'
import { routesFile } from '../../src/config/table-settings.ts'

/** The path of each file, and its text. */
export const editorSchemas = Object.entries({
  gateway: gatewayFile,
  policy: policyFile,
  routes: routesFile,
  seats: seatsFile,
}).map(
  ([name, { schema }]) =>
    [
      fileURLToPath(new URL(`../../src/config/${name}.schema.json`, import.meta.url)),
      `${JSON.stringify(schema, null, 2)}\n`,
    ] as const,
)

export const gatewaySchema = gatewayFile.schema
export const routesSchema = routesFile.schema
