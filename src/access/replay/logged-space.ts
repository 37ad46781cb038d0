/** What a logged request said about its space, for a decision by another source than the one that was in force. */

import { needsPermission, type Route } from '../../model/route.ts'
import { isSpaceHeader, SPACE_HEADER, type SpaceSource } from '../../model/space-source.ts'
import type { LoggedRequest } from './logged-request.ts'

/** The parts of the request that a source may read. */
export interface SaidSpace {
  /** Lines of the header `Space`. */
  readonly lines: readonly string[]
  /** Lines of another header that the route names. */
  readonly field: readonly string[]
  /** With the `?`; '' without one. */
  readonly query: string
}

const NOTHING: readonly string[] = Object.freeze([])
const REPEATED: readonly string[] = Object.freeze(['', ''])
const MALFORMED: readonly string[] = Object.freeze(['?'])
/** Some other space: the line does not have the one that the header named. */
const OTHER: readonly string[] = Object.freeze(['some-other-space'])

/** @param route that matches now; null: none @returns null: the line does not say it */
export function saidSpace(logged: LoggedRequest, route: Route | null): SaidSpace | null {
  const { code, space, spaceBy, caller } = logged
  const source = route?.space ?? SPACE_HEADER
  const lines = spaceLines(logged)
  const isDecisive = caller !== null && route !== null && needsPermission(route.requirement)
  if (isDecisive && code !== 'request_malformed' && !isTold(source, logged)) return null
  const named = space === null || spaceBy !== source.kind ? NOTHING : [space]
  const [value] = named
  const query = source.kind === 'query' && value !== undefined ? `?${source.name}=${value}` : ''
  return { lines, field: source.kind === 'header' ? named : NOTHING, query }
}

/** Whether the line has what the source reads. Path and host are there anyway. */
function isTold(source: SpaceSource, { code, spaceBy }: LoggedRequest): boolean {
  if (isSpaceHeader(source)) return spaceBy === null
  if (source.kind === 'query' || source.kind === 'header') return spaceBy === source.kind
  return code !== 'space_conflict' || spaceBy !== null
}

/** A request is malformed behind its path where its Space is: before a credential, repeated; behind it, no space id. */
function spaceLines({ code, space, spaceBy, caller }: LoggedRequest): readonly string[] {
  if (code === 'request_malformed') return caller === null ? REPEATED : MALFORMED
  if (code === 'space_conflict') return OTHER
  return space === null || spaceBy !== null ? NOTHING : [space]
}
