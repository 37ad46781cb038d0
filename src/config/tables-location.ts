/** `tables:`, the place of the route tables: files of each instance, or the store. */

import { resolve } from 'node:path'
import { didYouMean, didYouMeanOneOf, InvalidValue, quote, type ValueParser } from './invalid-value.ts'
import { nonEmpty } from './provider-values.ts'
import type { Section } from './section.ts'
import { map, required, setting, text } from './setting.ts'

/** The default of `cache`. */
const CACHE = 'seatgate-tables.json'

/** Where route tables are. `cache` is an absolute path. */
export type TablesLocation =
  | { readonly from: 'files' }
  | {
      readonly from: 'store'
      /** The tenant in whose admin space the tables are managed. They serve all tenants. */
      readonly tenant: string
      /** The file with the last active tables. */
      readonly cache: string
    }

const place: ValueParser<TablesLocation['from']> = (text) =>
  text === 'files' || text === 'store'
    ? text
    : new InvalidValue(`is neither files nor store${didYouMean(text, ['files', 'store'])}`)

const PATTERN = '^(files|store)$'

const short = text(
  'Where the route tables are: in the files that routes lists, or in the store, to which seatgate tables push writes them for all instances. See tables.md.',
  place,
  { pattern: PATTERN, default: 'files', examples: ['store'] },
)
const long = map('', {
  from: required(
    text('files or store.', place, { pattern: PATTERN, placeholder: 'files', examples: ['store'] }),
  ),
  tenant: text(
    'The tenant in whose admin space the tables are read and changed. They serve all tenants. Default: default_tenant, or the only tenant.',
    nonEmpty,
    { examples: ['acme'] },
  ),
  cache: text(
    'The file with the last active tables, relative to this file. A gateway that starts while the store is away reads it.',
    (path, { folder }) => (path === '' ? new InvalidValue('is empty: name a file') : resolve(folder, path)),
    { default: CACHE, examples: ['/var/lib/seatgate/tables.json'] },
  ),
})

export const tables = setting(
  { ...long.schema, ...short.schema, type: ['string', 'object'] },
  (root, key) => {
    const value = root.value(key)
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return long.read(root, key)
    return { from: short.read(root, key), tenant: null, cache: resolve(root.folder, CACHE) }
  },
)

/** @param tenants the ids of all tenants */
export function buildTablesLocation(
  { from, tenant, cache }: ReturnType<typeof tables.read>,
  root: Section,
  tenants: readonly string[],
  defaultTenant: string | null,
): TablesLocation {
  if (from === 'files') return Object.freeze({ from })
  if (root.has('routes'))
    root.faultAtKey(
      'routes',
      'routes: excludes tables: store: remove it, and push the files with seatgate tables push',
    )
  const id = tenant ?? defaultTenant
  if (id === null)
    root.fault(
      'tables',
      'tables: needs the tenant that manages them: write tables: { from: store, tenant: … }',
    )
  else if (!tenants.includes(id))
    root
      .section('tables')
      .fault('tenant', `tenant: ${quote(id)} is not a tenant${didYouMeanOneOf(id, tenants)}`)
  return Object.freeze({ from, tenant: id ?? '', cache })
}
