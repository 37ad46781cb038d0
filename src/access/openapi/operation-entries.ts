/** Entries of a route table for the operations of a description. */

import { isOwnPermission, isPermission } from '../../../seats-admin/model/permission.ts'
import { NO_EXCEPTIONS, readPattern } from '../../decision/router/pattern.ts'
import { type Described, leftOut, type Operation, type Remark, remarkName } from './operations.ts'
import { type ReadTemplate, readTemplate } from './path-template.ts'
import { withoutWider } from './wider-entries.ts'

export interface ImportedEntry {
  readonly method: string
  /** A pattern of a route table. */
  readonly path: string
  readonly permission: string
  /** Whether the description sets the permission, by `x-seatgate-permission`. */
  readonly isFixed: boolean
  /** The reason for a review by a person; '' if there is none. */
  readonly review: string
  /** The summary, on one line. */
  readonly summary: string
  /** The place of the operation, as keys from the root of the description. */
  readonly at: readonly string[]
}

export const DEFAULT_TEMPLATE = '{resource}:{verb}'
const PLACEHOLDERS = ['resource', 'verb', 'tag', 'operationId']

/** The fault of a template. @returns a sentence; null: the template is valid */
export function templateFault(template: string): string | null {
  const unknown = [...template.matchAll(/\{([^}]*)\}/g)].find(([, name = '']) => !PLACEHOLDERS.includes(name))
  if (unknown !== undefined)
    return `has the unknown placeholder ${unknown[0]}: the known ones are ${PLACEHOLDERS.map((each) => `{${each}}`).join(', ')}`
  return isPermission(template.replace(/\{[^}]*\}/g, 'x'))
    ? null
    : 'does not make a permission <resource>:<operation>'
}

const REVIEW_OPEN = 'the description names no credential'

/**
 * The entries, and remarks on what a table cannot express.
 *
 * @param upstream the prefix of the resource if the template makes a permission of the gateway itself
 */
export function entriesOf(
  { operations, remarks }: Described,
  template: string,
  upstream = 'service',
): { entries: ImportedEntry[]; remarks: Remark[] } {
  const entries = new Map<string, Candidate>()
  const all = [...remarks]
  const lost: ImportedEntry[] = []
  /** The operations of each parameter. Some descriptions have hundreds of them. */
  const narrowed = new Map<string, Operation[]>()
  for (const operation of operations) {
    const { at } = operation
    const candidate = entryOf(operation, template, upstream)
    if (typeof candidate === 'string') {
      all.push(leftOut(at, candidate))
      const wider = entryOf({ ...operation, path: widened(operation.path) }, template, upstream)
      if (typeof wider !== 'string') lost.push(wider.entry)
      continue
    }
    for (const message of candidate.guesses) all.push({ at, message, isLeftOut: false })
    for (const segment of candidate.narrowed)
      narrowed.set(segment, [...(narrowed.get(segment) ?? []), operation])
    const key = requestKey(candidate.entry)
    const first = entries.get(key)
    if (first === undefined) {
      entries.set(key, candidate)
      continue
    }
    const { method, path } = first.entry
    all.push(leftOut(at, `it matches the same requests as ${method} ${path}`))
    if (!areOne(first, candidate)) first.twin ??= candidate.entry
  }
  for (const [segment, [first, ...others]] of narrowed)
    if (first !== undefined) all.push(narrowedRemark(segment, first, others.length))
  const alone: ImportedEntry[] = []
  for (const { entry, twin } of entries.values()) {
    if (twin === undefined) alone.push(entry)
    else {
      all.push(leftOut(entry.at, `a table cannot tell its requests from those of ${remarkName(twin)}`))
      lost.push(entry, twin)
    }
  }
  const narrow = withoutWider(alone, lost)
  all.push(...narrow.dropped)
  const { kept, dropped } = withoutUnsafeAny(narrow.kept, all)
  return { entries: withoutHead(kept), remarks: [...all, ...dropped] }
}

/** The path with whole segments as parameters where a table refuses one within a segment: `/r/{id}.pdf`. */
function widened(path: string): string {
  const segments = path.split('/')
  return segments
    .map((each, at) => (/[{}]/.test(each) && !/^\{[^{}]*\}$/.test(each) ? `{p${at}}` : each))
    .join('/')
}

function narrowedRemark(segment: string, { at }: Operation, others: number): Remark {
  const more = others === 0 ? '' : `, here and in ${others} more operations`
  const message = `${segment} counts as one segment${more}: the rest of a path can only be at its end`
  return { at, message, isLeftOut: false }
}

interface Candidate extends Pick<ReadTemplate, 'guesses' | 'narrowed'> {
  readonly entry: ImportedEntry
  /** Another entry for the same requests of the table; the service tells them apart. */
  twin?: ImportedEntry
}

/** Whether two entries are one: a service tells `{id:[0-9]+}` from `{name}`, but not `{id}`. */
function areOne(one: Candidate, other: Candidate): boolean {
  const isGuess = one.guesses.length + other.guesses.length > 0
  return !isGuess || one.entry.permission === other.entry.permission
}

/** Drops entries for `ANY` that would serve operations that are left out, with another permission. */
function withoutUnsafeAny(
  entries: readonly ImportedEntry[],
  remarks: readonly Remark[],
): { kept: ImportedEntry[]; dropped: Remark[] } {
  const paths = new Set(
    remarks
      .filter(({ at, isLeftOut }) => isLeftOut && at.length > 2 && at[2] !== 'trace')
      .map(({ at }) => at[1]),
  )
  const isUnsafe = ({ method, at }: ImportedEntry) => method === 'ANY' && paths.has(at[1])
  const reason = 'it would serve other operations of this path that are left out'
  return {
    kept: entries.filter((entry) => !isUnsafe(entry)),
    dropped: entries.filter(isUnsafe).map(({ at }) => leftOut(at, reason)),
  }
}

/** A key that is equal for entries that match the same requests. */
export function requestKey({ method, path }: { readonly method: string; readonly path: string }): string {
  return `${method} ${path.replace(/\{[^}]*\}/g, '{}')}`
}

/** Drops entries for HEAD, which the entry of GET serves. */
function withoutHead(entries: readonly ImportedEntry[]): ImportedEntry[] {
  const gets = new Map(entries.filter(({ method }) => method === 'GET').map((each) => [each.path, each]))
  return entries.filter(
    ({ method, path, permission }) => method !== 'HEAD' || gets.get(path)?.permission !== permission,
  )
}

function entryOf(operation: Operation, template: string, upstream: string): Candidate | string {
  const { method, summary } = operation
  if (method === 'TRACE') return 'the gateway does not serve TRACE'
  const read = readTemplate(operation.path, operation.multiSegment)
  if (typeof read === 'string') return read
  const { pattern: path, guesses, narrowed } = read
  const fault = readPattern(path, NO_EXCEPTIONS)
  if (typeof fault === 'string') return fault
  const permission = permissionOf(operation, path, template, upstream)
  if (permission === null)
    return `x-seatgate-permission ${JSON.stringify(operation.permission)} is not a permission, authenticated or public`
  const isFixed = operation.permission !== undefined
  const review = !isFixed && operation.isOpen ? REVIEW_OPEN : ''
  const entry = { method, path, permission, isFixed, review, summary: shortLine(summary), at: operation.at }
  return { entry, guesses, narrowed }
}

function permissionOf(operation: Operation, path: string, template: string, upstream: string): string | null {
  const { permission, isOpen, method, tag, operationId } = operation
  if (permission !== undefined) {
    if (typeof permission !== 'string') return null
    return ['public', 'authenticated'].includes(permission) || isPermission(permission) ? permission : null
  }
  if (isOpen) return 'public'
  const statics = path.split('/').filter((each) => each !== '' && each !== '*' && !each.startsWith('{'))
  const resource = statics.at(-1) ?? 'root'
  const values: Readonly<Record<string, string>> = {
    resource,
    verb: verbOf(method, path),
    tag: tag ?? resource,
    operationId: operationId ?? `${method}-${resource}`,
  }
  const made = template.replace(/\{([^}]*)\}/g, (_, name: string) => plainName(values[name] ?? ''))
  // A resource without a placeholder is kept as it is written.
  const isMade = /^[^:]*\{/.test(template)
  return isMade && isOwnPermission(made) ? `${upstream}.${made}` : made
}

function verbOf(method: string, path: string): string {
  const isOne = /(?:\}|\*)$/.test(path)
  const verbs: Readonly<Record<string, string>> = {
    GET: isOne ? 'read' : 'list',
    HEAD: isOne ? 'read' : 'list',
    POST: 'create',
    PUT: 'update',
    PATCH: 'update',
    DELETE: 'delete',
  }
  return verbs[method] ?? method.toLowerCase()
}

/** The text with only the characters of a permission. */
function plainName(text: string): string {
  return text.trim().replace(/[^A-Za-z0-9._-]+/g, '-') || 'x'
}

const MAX_SUMMARY = 80

function shortLine(text: string): string {
  const line = oneLine(text)
  return line.length > MAX_SUMMARY ? `${line.slice(0, MAX_SUMMARY - 1)}…` : line
}

export function oneLine(text: string): string {
  return text.replace(/[\s\p{C}]+/gu, ' ').trim()
}
