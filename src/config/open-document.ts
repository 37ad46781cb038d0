/** Opens a file of the configuration: parsed, and its structure validated. */

import type { Document } from './positioned-document.ts'
import type { Source } from './read-file.ts'
import { type Schema, type SchemaName, schemas } from './schema.ts'
import { Section } from './section.ts'
import { validate } from './validate.ts'
import { type IsNeeded, parse } from './yaml-parser.ts'

export interface OpenedDocument {
  readonly document: Document
  /** Empty where the file is no readable YAML map, which is a fault of the document. */
  readonly root: Section
}

/** The caller adds the faults of values. Parameters as of `parse`. */
export function openDocument(
  file: string,
  source: Source,
  kind: SchemaName,
  env: NodeJS.ProcessEnv,
  isNeeded: IsNeeded | null = null,
): OpenedDocument {
  const document = parse(file, source, kind, env, isNeeded)
  if (document.root !== null) validate(document, document.root, kind)
  return { document, root: new Section(document, document.root ?? {}, schemas[kind] as Schema) }
}
