/** Reads and validates a file beside the configuration, such as one with policy tests. */

import { ConfigError } from './faults.ts'
import type { Document } from './positioned-document.ts'
import { readSource, type Source } from './read-file.ts'
import { type Schema, type SchemaName, schemas } from './schema.ts'
import { Section } from './section.ts'
import { validate } from './validate.ts'
import { parse } from './yaml-parser.ts'

/**
 * Faults of the structure are in the document; the caller adds those of values.
 *
 * @param source of what is no file; `file` is its name in messages then
 * @throws ConfigError where the file is no readable YAML map
 */
export async function openDocument(
  file: string,
  env: NodeJS.ProcessEnv,
  kind: SchemaName,
  source?: Source,
): Promise<{ document: Document; root: Section }> {
  const document = parse(file, source ?? (await readSource(file)), kind, env)
  if (document.root === null) throw new ConfigError(document.faults)
  validate(document, document.root, kind)
  return { document, root: new Section(document, document.root, schemas[kind] as Schema) }
}
