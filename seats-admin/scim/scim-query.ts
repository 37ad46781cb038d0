/** The query of a request. */

import { MAX_SCIM_PAGE, type ScimPage } from '../store/scim-store.ts'
import { invalidValue, ScimFault } from './scim-fault.ts'
import { Projection } from './scim-projection.ts'

const PARTS = ['attributes', 'excludedAttributes'] as const
const LIST = [...PARTS, 'filter', 'startIndex', 'count'] as const
const SORTING: ReadonlySet<string> = new Set(['sortBy', 'sortOrder'])
/**
 * Names that Microsoft Entra ID adds if the operator appends them to the address of the server. They tell it
 * what to send, and say nothing here.
 */
const FLAGS: ReadonlySet<string> = new Set(['aadOptscim062020', 'AzureAdScimPatch2017'])
const MOST_PARAMETERS = 16
const DEFAULT_COUNT = 100

type Values = ReadonlyMap<string, string>

export const unsupported = new ScimFault(501, null, 'This server does not support the request.')

/** @param query without the `?` */
function valuesOf(query: string, known: readonly string[]): Values | ScimFault {
  const values = new Map<string, string>()
  const parameters = [...new URLSearchParams(query)]
  if (parameters.length > MOST_PARAMETERS) return invalidValue('The query has too many parameters.')
  for (const [name, value] of parameters) {
    if (FLAGS.has(name)) continue
    if (SORTING.has(name)) return unsupported
    // With an unknown one left out, a filter in another spelling would show everyone.
    if (!known.includes(name)) return invalidValue('The query has a parameter that is not known.')
    if (values.has(name)) return invalidValue(`The query has ${name} twice.`)
    values.set(name, value)
  }
  if (PARTS.every((name) => values.has(name)))
    return invalidValue('The query may have attributes or excludedAttributes, not both.')
  return values
}

/** @param urn of the schema of the resource */
export function projectionIn(query: string, urn: string): Projection | ScimFault {
  const values = valuesOf(query, PARTS)
  return values instanceof ScimFault ? values : projectionOf(values, urn)
}

function projectionOf(values: Values, urn: string): Projection {
  return Projection.of(values.get('attributes') ?? null, values.get('excludedAttributes') ?? null, urn)
}

/** @returns a fault if the query has a parameter */
export function refuseQuery(query: string): ScimFault | null {
  const values = valuesOf(query, ['filter'])
  if (values instanceof ScimFault) return values
  // RFC 7644, section 4.
  return values.has('filter')
    ? new ScimFault(403, null, 'What this server supports cannot be filtered.')
    : null
}

export interface ListQuery<F> {
  readonly page: ScimPage<F>
  readonly projection: Projection
}

/** @param filterOf reads a filter; without one, all are listed */
export function listQueryIn<F extends object>(
  query: string,
  urn: string,
  filterOf: (text: string) => F | ScimFault,
  all: F,
): ListQuery<F> | ScimFault {
  const values = valuesOf(query, LIST)
  if (values instanceof ScimFault) return values
  const text = values.get('filter')
  const filter = text === undefined ? all : filterOf(text)
  if (filter instanceof ScimFault) return filter
  const startIndex = numberIn(values, 'startIndex', 1)
  const count = numberIn(values, 'count', DEFAULT_COUNT)
  if (startIndex === null || count === null)
    return invalidValue('startIndex and count must be whole numbers.')
  const page = {
    filter,
    // Smaller numbers stand for 1 and 0 (RFC 7644, section 3.4.2.4).
    startIndex: Math.max(1, startIndex),
    count: Math.min(MAX_SCIM_PAGE, Math.max(0, count)),
  }
  return { page, projection: projectionOf(values, urn) }
}

function numberIn(values: Values, name: string, otherwise: number): number | null {
  const text = values.get(name)
  if (text === undefined) return otherwise
  return /^-?[0-9]{1,9}$/.test(text) ? Number(text) : null
}
