/**
 * Warnings for entries whose other methods fall back to an entry that requires less. With `GET /v1/admin/x:
 * admin:x` beside `ANY /v1/*: public`, `POST /v1/admin/x` is public, perhaps unintentionally. An entry for
 * the method at the narrower path resolves the warning. Checked at load time.
 */

import { EVERY_PERMISSION } from '../../../seats-admin/model/permission.ts'
import type { Warning } from '../../config/faults.ts'
import type { Requirement, Route } from '../../model/route.ts'
import { placeText, warningsByFile } from './entry-warnings.ts'
import type { Pattern, Segment } from './pattern.ts'
import { find, type Leaf, type Node, placedIn } from './tree.ts'

/**
 * The methods that represent `ANY`. HEAD follows GET; OPTIONS is public on purpose if it is allowed at all.
 */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** A segment that equals no static segment: no path contains a NUL. */
const UNMATCHED = '\0'
/** The segments that represent `*`. */
const SAMPLE_RESTS = [[''], ...[1, 2, 3, 4, 5, 6].map((depth) => Array<string>(depth).fill(UNMATCHED))]

/** @param patterns of `routes`, in the same order */
export function fallbacks(root: Node, routes: readonly Route[], patterns: readonly Pattern[]): Warning[] {
  const reported = new Set<string>()
  return warningsByFile(routes, (route, place, index) => {
    const fallbacksByRoute = new Map<Route, Set<string>>()
    const visit = (leaf: Leaf, path: readonly string[]) =>
      collect(root, route, leaf, `/${path.join('/')}`, fallbacksByRoute)
    if (strength(route.requirement) > 0)
      visitWider(root, patterns[index]?.segments ?? [], 0, false, [], visit)
    return [...fallbacksByRoute].flatMap(([other, methods]): Warning[] => {
      const pair = `${route.path} ${other.id}`
      if (reported.has(pair)) return []
      reported.add(pair)
      const group = `${route.requirement}, other methods ${other.requirement}`
      const message = warning(route, other, methods)
      return [{ code: 'wider_fallback', place, message, about: { group, subject: route.id } }]
    })
  })
}

type Visit = (leaf: Leaf, path: readonly string[]) => void

/**
 * Visits the leaves that matching tries after the pattern's own, each with a path that both match. At the
 * first segment that differs they are wider; after it they may be narrower.
 */
function visitWider(
  node: Node,
  segments: readonly Segment[],
  at: number,
  differs: boolean,
  path: readonly string[],
  visit: Visit,
): void {
  const segment = segments[at]
  if (segment === undefined) {
    if (differs && node.leaf !== null) visit(node.leaf, path)
    return
  }
  if (segment.kind === 'rest') return differs ? visitBelow(node, path, visit) : undefined
  if (node.rest !== null)
    for (const tail of samplePaths(segments.slice(at))) visit(node.rest, [...path, ...tail])
  const text = textOf(segment)
  const same = segment.kind === 'static' ? node.statics.get(text) : node.param
  if (same != null) visitWider(same, segments, at + 1, differs, [...path, text], visit)
  if (segment.kind === 'static' && text !== '' && node.param !== null)
    visitWider(node.param, segments, at + 1, true, [...path, text], visit)
  if (segment.kind === 'param' && differs)
    for (const [each, child] of node.statics)
      if (each !== '') visitWider(child, segments, at + 1, true, [...path, each], visit)
}

/** All leaves at and below the node. */
function visitBelow(node: Node, path: readonly string[], visit: Visit): void {
  if (node.leaf !== null && path.length > 0) visit(node.leaf, path)
  if (node.rest !== null) for (const tail of SAMPLE_RESTS) visit(node.rest, [...path, ...tail])
  for (const [text, child] of node.statics) visitBelow(child, [...path, text], visit)
  if (node.param !== null) visitBelow(node.param, [...path, UNMATCHED], visit)
}

/**
 * Sample paths for the segments. A `*` gets an empty path and several depths, as narrower entries may match
 * some depths.
 */
function samplePaths(segments: readonly Segment[]): string[][] {
  const before = segments.filter(({ kind }) => kind !== 'rest').map(textOf)
  return before.length === segments.length ? [before] : SAMPLE_RESTS.map((rest) => [...before, ...rest])
}

function textOf(segment: Segment): string {
  return segment.kind === 'static' ? segment.text : UNMATCHED
}

/** Collects the methods by which matching goes from `route` to a route of the leaf that requires less. */
function collect(
  root: Node,
  route: Route,
  leaf: Leaf,
  path: string,
  fallbacksByRoute: Map<Route, Set<string>>,
): void {
  const routeFor = (method: string) => find(root, method, path, 1, [])?.route ?? null
  if (routeFor(route.method === 'ANY' ? 'GET' : route.method) !== route) return
  for (const { route: other } of placedIn(leaf)) {
    if (other === null || strength(other.requirement) >= strength(route.requirement)) continue
    const methods = other.method === 'ANY' ? METHODS : [other.method]
    for (const method of methods) {
      if (method === 'HEAD' || method === 'OPTIONS' || routeFor(method) !== other) continue
      fallbacksByRoute.set(other, (fallbacksByRoute.get(other) ?? new Set()).add(method))
    }
  }
}

/**
 * The strength of a requirement: public, authenticated, a permission, `*`. Two permissions have the same
 * rank.
 */
function strength(requirement: Requirement): number {
  if (requirement === 'public') return 0
  if (requirement === 'authenticated') return 1
  return requirement === EVERY_PERMISSION ? 3 : 2
}

function warning(route: Route, other: Route, methods: ReadonlySet<string>): string {
  const all = [...methods].join(', ')
  return (
    `${route.id} requires ${route.requirement}, but ${all} of its path can fall back to ${other.id}${placeText(other)}, ` +
    `which requires less: ${other.requirement}. To resolve this, add an entry for the method`
  )
}
