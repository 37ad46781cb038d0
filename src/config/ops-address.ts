/**
 * The address of `ops`, for health checks. Route tables are not read, and faults of other settings are
 * ignored: if the file has faults, a gateway keeps its previous configuration.
 */

import { dirname, resolve } from 'node:path'
import { gatewayFile } from './main-file.ts'
import { readEnvFile } from './env-file.ts'
import { ConfigError, displayPath } from './faults.ts'
import { NO_CONFIGURATION, readSource } from './read-file.ts'
import { Section } from './section.ts'
import { ValueFiles } from './value-files.ts'
import { parse } from './yaml-parser.ts'

/**
 * Reads the address, and the faults of the file that concern it. With such a fault, the address is the
 * default.
 *
 * @throws ConfigError if the file cannot be read
 */
export async function readOpsAddress(file: string, env: NodeJS.ProcessEnv) {
  const path = resolve(file)
  const { variables } = await readEnvFile(dirname(path), displayPath)
  const source = await readSource(path, undefined, NO_CONFIGURATION)
  const files = new ValueFiles(dirname(path))
  const document = parse(
    displayPath(path),
    source,
    gatewayFile.schema,
    { ...variables, ...env },
    isOps,
    files,
  )
  if (!('text' in source)) throw new ConfigError(document.faults)
  const root = new Section(document, document.root ?? {}, dirname(path))
  return { ops: gatewayFile.fields.ops.read(root, 'ops'), faults: document.faults }
}

function isOps([key]: readonly string[]): boolean {
  return key === 'ops'
}
