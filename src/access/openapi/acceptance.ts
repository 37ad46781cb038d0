/** Whether `seatgate check` accepts the entries of a table before it is written. */

import type { RouteEntry } from '../../config/config.ts'
import type { Fault } from '../../config/faults.ts'
import { openDocument } from '../../config/open-document.ts'
import { buildRoutes } from '../../config/table-entries.ts'
import { type RouteContext, routesFile } from '../../config/table-settings.ts'
import { acceptedWarnings } from '../../config/accepted-warnings.ts'
import { COLLISION, type Upstreams } from '../../decision/router/entries.ts'
import { compileTable } from '../../decision/router/table.ts'
import type { Route } from '../../model/route.ts'
import { type ImportedEntry, requestKey } from './operation-entries.ts'
import { leftOut, type Remark } from './operations.ts'
import type { OpenApiTable } from './table-text.ts'

/** The configuration around the table. */
export interface Surroundings {
  readonly context: RouteContext
  /** The entries of the other tables. */
  readonly entries: readonly RouteEntry[]
  readonly upstreams: Upstreams
  /** The gateway's own endpoints. */
  readonly builtIn: readonly Route[]
  readonly apiHosts: readonly string[] | null
}

/**
 * The result of `check` for a table.
 *
 * @param file the path of the table for display
 * @param text its content
 * @returns the reasons of refusals by `requestKey`, and warnings
 */
export function acceptanceOf(file: string, text: string, surroundings: Surroundings) {
  const { context, entries: others, upstreams, builtIn, apiHosts } = surroundings
  const { document, root } = openDocument(file, { text }, routesFile.schema, {})
  const { entries } = buildRoutes(document, root, context)
  // Its entries follow the others: an existing entry is not the one to leave out.
  const { faults, warnings } = compileTable([...others, ...entries], upstreams, builtIn, apiHosts)
  const reasons = new Map([...document.faults, ...faults].map((fault) => [placeOf(fault), fault.message]))
  const refused = entries.flatMap((entry) => {
    const reason = reasons.get(placeOf(entry))
    return reason === undefined ? [] : [[requestKey(entry), reason] as const]
  })
  const { accepts } = acceptedWarnings(file, text, true)
  const own = warnings.filter((each) => each.place.file === file && !accepts(each))
  return { refused: new Map(refused), warnings: own }
}

function placeOf({ place: { file, line, column } }: Pick<Fault, 'place'>): string {
  return `${file}:${line}:${column}`
}

/**
 * The entries that `check` accepts, and a remark on each entry that it refuses. The warnings are about the new
 * table together with the other entries.
 *
 * @param file the path of the table for display
 * @param table the existing table; null: it is new
 * @param textOf the text of the table with these entries
 */
export function acceptedEntries(
  file: string,
  imported: readonly ImportedEntry[],
  table: OpenApiTable | null,
  textOf: (entries: readonly ImportedEntry[]) => string,
  surroundings: Surroundings,
) {
  const keyIn = (entry: ImportedEntry) => table?.keyOf(entry) ?? requestKey(entry)
  const remarks: Remark[] = []
  let entries = imported
  for (;;) {
    const { refused, warnings } = acceptanceOf(file, textOf(entries), surroundings)
    const added = new Set((table?.drift(entries).missing ?? entries).map(({ at }) => at))
    const reasonFor = (entry: ImportedEntry): string | null => {
      const reason = refused.get(keyIn(entry)) ?? null
      // A person must correct other faults of an existing entry.
      return added.has(entry.at) || reason?.endsWith(COLLISION) === true ? reason : null
    }
    const wrong = entries.filter((each) => reasonFor(each) !== null)
    if (wrong.length === 0) return { entries, remarks, warnings }
    for (const each of wrong) remarks.push(leftOut(each.at, shortened(reasonFor(each) ?? '')))
    entries = entries.filter((each) => !wrong.includes(each))
  }
}

/** The reason without the operation, which precedes it. */
function shortened(reason: string): string {
  return reason.replace(/^[A-Z-]+ \S*\/\S*: /, '')
}
