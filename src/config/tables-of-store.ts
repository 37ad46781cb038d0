/** Route tables of the store: the texts of several files, which are one configuration together. */

import type { ActiveTables } from '../../seats-admin/model/tables-version.ts'
import type { RateLimit } from '../model/rate-limit.ts'
import { type AcceptedWarnings, acceptedWarnings } from './accepted-warnings.ts'
import { frozenMap } from './frozen.ts'
import { openDocument } from './open-document.ts'
import type { RouteEntry } from './config.ts'
import { buildRateLimits, rateLimits as rateLimitsSetting } from './rate-limit-settings.ts'
import { sourceOf } from './read-file.ts'
import { buildRoutes, type BuiltTable } from './table-entries.ts'
import type { FileSchema } from './schema.ts'
import { type RouteContext, routesFile } from './table-settings.ts'

/** The schema of a file, which may be a table, have rate limits, or both. */
const storedSchema: FileSchema = {
  ...routesFile.schema,
  required: [],
  properties: { ...routesFile.schema.properties, rate_limits: rateLimitsSetting.schema },
}

/** Tables that are built. */
export interface BuiltTables {
  readonly entries: readonly RouteEntry[]
  /** Their content hash. */
  readonly hash: string
  /** Those of the configuration, and their own. */
  readonly rateLimits: ReadonlyMap<string, RateLimit>
}

/**
 * Builds the tables as those of files, with two differences: a file may have `rate_limits`, which all files of
 * the version name, and values have no variables, so that the tables are the same at each instance.
 */
export function buildStored({ files }: Pick<ActiveTables, 'files'>, context: RouteContext) {
  const opened = Object.entries(files).map(([name, text]) => open(name, text))
  const own = new Map<string, RateLimit>()
  for (const { root } of opened)
    for (const [name, limit] of buildRateLimits(rateLimitsSetting.read(root, 'rate_limits'), root))
      if (own.has(name))
        root.section('rate_limits').faultAtKey(name, `${name} is also in another file: keep one of them`)
      else own.set(name, limit)
  const rateLimits = frozenMap(new Map([...context.rateLimits, ...own]))
  const tables = opened.filter(({ isTable }) => isTable)
  const active = tables.map(({ document, root }): BuiltTable =>
    buildRoutes(document, root, { ...context, rateLimits }),
  )
  return {
    documents: opened.map(({ document }) => document),
    comments: opened.flatMap(({ comments }) => comments),
    active,
    rateLimits,
  }
}

function open(name: string, text: string) {
  const source = sourceOf(Buffer.from(text))
  const comments: AcceptedWarnings[] = 'text' in source ? [acceptedWarnings(name, source.text, true)] : []
  const { document, root } = openDocument(name, source, storedSchema, null)
  // A file with rate limits alone is no table.
  const isTable =
    document.root !== null &&
    (!root.has('rate_limits') || ['upstream', 'routes', 'mcp'].some((key) => root.has(key)))
  if (isTable && !root.has('upstream')) root.faultAtMap('the file must have the key "upstream"')
  return { document, root, comments, isTable }
}
