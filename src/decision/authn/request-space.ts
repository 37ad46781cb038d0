/**
 * The space of a request: from the `Space` header, or from the source that the route's table names. A `Space`
 * header beside another source must say the same.
 */

import { isSpaceId } from '../../../seats-admin/model/space.ts'
import type { AuthorizationRequest, Credentials } from '../../model/authorization-request.ts'
import { canonicalHost, isAddress } from '../../model/host.ts'
import { Refusal } from '../../model/errors.ts'
import type { PathParams } from '../../model/decision.ts'
import { SPACE_FIELD, type SpaceSource } from '../../model/space-source.ts'
import { queryValue } from './query-value.ts'

const missing = new Refusal(
  'space_required',
  'This route needs a permission in a space: send one Space header.',
)
/** Checked before the credential, as repeated credentials are. */
export const repeatedSpace = new Refusal(
  'request_malformed',
  'The Space header is sent more than once or names several spaces.',
)
const malformed = new Refusal('request_malformed', 'The Space header is not a space id.')
const noSpaceId = new Refusal('request_malformed', 'The space that the request names is not a space id.')
const conflict = new Refusal(
  'space_conflict',
  'The Space header names another space than the request itself.',
)
const otherSpelling = new Refusal(
  'request_malformed',
  'The header that names the space is sent more than once, names several spaces or has another spelling.',
)

/** What the sources read beside the header `Space`. */
interface SpaceContext {
  readonly params: PathParams
  /** The query with its `?`, as received. */
  readonly query: string
  /** The host of the request, as received; null: it names none. */
  readonly authority: string | null
}

/** The space in the header `Space`. */
export function headerSpace({ space: lines }: Credentials): string | Refusal {
  const [value] = lines
  if (value === undefined) return missing
  if (lines.length > 1 || value.includes(',')) return repeatedSpace
  return isSpaceId(value) ? value : malformed
}

/**
 * The space by the route's source. A malformed header `Space` is refused whatever the source; a missing one
 * counts only if it is the source.
 */
export function spaceOf(
  request: AuthorizationRequest,
  source: SpaceSource,
  context: SpaceContext,
): string | Refusal {
  const header = headerSpace(request.credentials)
  if (source.kind === 'header' && source.name === SPACE_FIELD) return header
  if (header === malformed || header === repeatedSpace) return header
  const value = valueOf(request, source, context)
  if (value === null) return missingBy(source)
  if (typeof value !== 'string') return value
  if (!isSpaceId(value)) return noSpaceId
  return typeof header === 'string' && header !== value ? conflict : value
}

/** The value that the source names. Null: the request has none. */
function valueOf(
  { fields }: AuthorizationRequest,
  source: SpaceSource,
  { params, query, authority }: SpaceContext,
): string | null | Refusal {
  switch (source.kind) {
    case 'header':
      return fieldValue(fields?.linesOf(source.name) ?? [])
    case 'param':
      return params.get(source.name)
    case 'fixed':
      return source.space
    case 'query':
      return queryValue(query, source.name)
    case 'host_label':
      return hostLabel(authority, source.label)
  }
}

function fieldValue(lines: readonly string[] | 'other spelling'): string | null | Refusal {
  if (lines === 'other spelling' || lines.length > 1) return otherSpelling
  const [value = null] = lines
  return value?.includes(',') === true ? otherSpelling : value
}

/**
 * The label of the host; null: it has none, as an address.
 *
 * @param label 1 is the first
 */
function hostLabel(authority: string | null, label: number): string | null | Refusal {
  if (authority === null) return null
  const host = canonicalHost(authority)
  if (host === null) return ambiguousHost
  return isAddress(host) ? null : (host.split('.')[label - 1] ?? null)
}

/** The refusal of a host that readers may see differently, if the host decides. */
export const ambiguousHost = new Refusal(
  'request_malformed',
  'The host of the request is neither a plain host name nor an address.',
)

function missingBy(source: SpaceSource): Refusal {
  return new Refusal(
    'space_required',
    `This route needs a permission in a space: ${ADVICE[source.kind](source)}.`,
  )
}

const ADVICE: Readonly<Record<SpaceSource['kind'], (source: SpaceSource) => string>> = {
  header: (source) => `send one header ${nameOf(source)}`,
  param: () => 'its path names none',
  fixed: () => 'it has none',
  query: (source) => `send one query parameter ${nameOf(source)}`,
  host_label: () => 'its host has no label that names one',
}

function nameOf(source: SpaceSource): string {
  return 'name' in source ? source.name : ''
}
