/**
 * Entries whose other methods fall to an entry that asks for less: with `GET /v1/admin/x: admin:x` beside
 * `ANY /v1/*: public`, `POST /v1/admin/x` is public. The table has that answer, but perhaps not the one that was meant.
 * Asked at load; a warning, never a fault. An entry for the method at the narrower path settles it.
 */

import { EVERY_PERMISSION } from '../../../seats-admin/model/permission.ts'
import type { Fault } from '../../config/faults.ts'
import type { Requirement, Route } from '../../model/route.ts'
import type { Pattern, Segment } from './pattern.ts'
import { find, type Leaf, type Node } from './tree.ts'

/** More warnings of this kind say nothing new. */
const MAX_WARNINGS = 100
/** What `ANY` is tried with. HEAD goes with GET; OPTIONS is meant to be open where it is at all. */
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']
/** A segment that no static one equals: no path has it. */
const FRESH = '\0'
/** What a `*` is tried with. */
const RESTS = [[''], ...[1, 2, 3, 4, 5, 6].map((depth) => Array<string>(depth).fill(FRESH))]

/** @param patterns of the routes, in the same order */
export function fallbacks(root: Node, routes: readonly Route[], patterns: readonly Pattern[]): Fault[] {
  const warnings: Fault[] = []
  const told = new Set<string>()
  for (const [index, route] of routes.entries()) {
    if (warnings.length >= MAX_WARNINGS || route.place === null) break
    const found = new Map<Route, Set<string>>()
    const met = (leaf: Leaf, path: readonly string[]) =>
      collect(root, route, leaf, `/${path.join('/')}`, found)
    if (rank(route.requirement) > 0) wider(root, patterns[index]?.segments ?? [], 0, false, [], met)
    for (const [other, methods] of found) {
      const pair = `${route.path} ${other.id}`
      if (!told.has(pair)) warnings.push({ place: route.place, message: warning(route, other, methods) })
      told.add(pair)
    }
  }
  return warnings
}

type Met = (leaf: Leaf, path: readonly string[]) => void

/**
 * The leaves that are asked after the pattern's own, each with a path that both match: at the first segment that differs
 * they are wider. Behind that, they may be narrower.
 */
function wider(
  node: Node,
  segments: readonly Segment[],
  at: number,
  differs: boolean,
  path: readonly string[],
  met: Met,
): void {
  const segment = segments[at]
  if (segment === undefined) {
    if (differs && node.leaf !== null) met(node.leaf, path)
    return
  }
  if (segment.kind === 'rest') return differs ? below(node, path, met) : undefined
  if (node.rest !== null) for (const tail of tailsOf(segments.slice(at))) met(node.rest, [...path, ...tail])
  const text = textOf(segment)
  const same = segment.kind === 'static' ? node.statics.get(text) : node.param
  if (same != null) wider(same, segments, at + 1, differs, [...path, text], met)
  if (segment.kind === 'static' && text !== '' && node.param !== null)
    wider(node.param, segments, at + 1, true, [...path, text], met)
  if (segment.kind === 'param' && differs)
    for (const [each, child] of node.statics)
      if (each !== '') wider(child, segments, at + 1, true, [...path, each], met)
}

/** All leaves from here on. */
function below(node: Node, path: readonly string[], met: Met): void {
  if (node.leaf !== null && path.length > 0) met(node.leaf, path)
  if (node.rest !== null) met(node.rest, [...path, FRESH])
  for (const [text, child] of node.statics) below(child, [...path, text], met)
  if (node.param !== null) below(node.param, [...path, FRESH], met)
}

/** Paths of the segments; of a rest, empty ones and of several depths, as narrower entries may answer at some of them. */
function tailsOf(segments: readonly Segment[]): string[][] {
  const before = segments.filter(({ kind }) => kind !== 'rest').map(textOf)
  return before.length === segments.length ? [before] : RESTS.map((rest) => [...before, ...rest])
}

function textOf(segment: Segment): string {
  return segment.kind === 'static' ? segment.text : FRESH
}

/** The methods by which the table itself goes from this route to one of the leaf that asks for less. */
function collect(root: Node, route: Route, leaf: Leaf, path: string, found: Map<Route, Set<string>>): void {
  const answers = (method: string) => find(root, method, path, 1, [])?.route ?? null
  if (answers(route.method === 'ANY' ? 'GET' : route.method) !== route) return
  for (const { route: other } of [...leaf.methods.values(), ...(leaf.any === null ? [] : [leaf.any])]) {
    if (other === null || rank(other.requirement) >= rank(route.requirement)) continue
    const methods = other.method === 'ANY' ? METHODS : [other.method]
    for (const method of methods) {
      if (method === 'HEAD' || method === 'OPTIONS' || answers(method) !== other) continue
      found.set(other, (found.get(other) ?? new Set()).add(method))
    }
  }
}

/** How much is asked for: nothing, any credential, a permission, all of them. Two permissions can't be compared. */
function rank(requirement: Requirement): number {
  if (requirement === 'public') return 0
  if (requirement === 'authenticated') return 1
  return requirement === EVERY_PERMISSION ? 3 : 2
}

function warning(route: Route, other: Route, methods: ReadonlySet<string>): string {
  const place = other.place === null ? '' : ` (${other.place.file}:${other.place.line})`
  const all = [...methods].join(', ')
  return (
    `${route.id} asks for ${route.requirement}, but ${all} of its path can fall to ${other.id}${place}, ` +
    `which asks for less: ${other.requirement}. An entry of its own for the method settles it`
  )
}
