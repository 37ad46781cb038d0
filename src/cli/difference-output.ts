/** Differences between two sets of route tables as text and as Markdown, for `diff` and `tables`. */

import { type Change, type ChangeKind, type EntryView, KINDS } from '../access/access-change.ts'
import { code, escaped } from './markdown.ts'
import { printable } from '../telemetry/readable.ts'
import { fold, groupsOnScreen, isOnScreen, onOneLine, plural } from './screen.ts'

/** A change, of this program or as the endpoint answers it. A plan has users and API keys, too. */
type ShownChange = Omit<Change, 'seats'> & {
  readonly seats?: MovedNames<string>
  readonly users?: MovedNames<{ readonly sub: string; readonly email: string | null }>
  readonly api_keys?: MovedNames<{ readonly name: string }>
}

interface MovedNames<V> {
  readonly gain: readonly V[]
  readonly lose: readonly V[]
  /** How many there are; absent if all are named. */
  readonly gain_count?: number
  readonly lose_count?: number
}

/** The exit code if there are differences. */
export const DIFFERENT = 3

const EQUAL = 'No request is answered differently: the tables are equal.'

/** The most names on one line. */
const MOST_NAMES = 5
/** The most rows of a comment, which GitHub cuts off at 65,536 characters. */
const MOST_ROWS = 100

const MEANING: Readonly<Record<ChangeKind, string>> = {
  became_public: 'became public',
  loosened: 'requires less',
  added: 'is new',
  changed: 'requires another permission',
  tightened: 'requires more',
  removed: 'is gone',
  rerouted: 'leads to another upstream',
  limits: 'has other limits',
}

export function changesAsText(changes: readonly ShownChange[]): string {
  if (changes.length === 0) return EQUAL
  const text = [...changes.map(changeAsText), summary(changes)].join('\n\n')
  return isOnScreen(text) ? text : groupsAsText(changes, summary(changes))
}

function changeAsText(change: ShownChange): string {
  return [
    `${change.kind}  ${routeText(change)}`,
    `  old  ${entryAsText(change.old)}`,
    `  new  ${entryAsText(change.new)}`,
    `  e.g. ${requestText(change)}`,
    ...callerLines(change).map((line) => fold(line, '  ', '       ')),
  ].join('\n')
}

/** The method and pattern of a route: `GET api.example.com/v1/a`. */
function routeText({ method, host = '', pattern }: ShownChange): string {
  return `${method} ${host}${pattern}`
}

function requestText({ witness: { method, host = '', path } }: ShownChange): string {
  return `${method} ${host}${path}`
}

/** The other parts of an entry: the tenant, the source of the space, and the changes of the path. */
function detailsOf({ tenant, space, strip_prefix: strip, base_path: base }: EntryView): string {
  const parts = [
    ...(tenant === undefined ? [] : [`tenant: ${tenant}`]),
    ...(space === undefined ? [] : [`space: ${space}`]),
    ...(strip === undefined ? [] : [`without ${strip}`]),
    ...(base === undefined ? [] : [`behind ${base}`]),
  ]
  return parts.length === 0 ? '' : `, ${parts.join(', ')}`
}

function entryAsText(entry: EntryView | null): string {
  if (entry === null) return 'no entry (404)'
  return `${entry.permission} → ${entry.upstream}${detailsOf(entry)} (${placeOf(entry)})`
}

function placeOf({ file, line }: EntryView): string {
  return line === 0 ? file : `${file}:${line}`
}

/** Who gains and who loses: Seats, and of a plan users and API keys. */
function callerLines({ seats, users, api_keys: keys }: ShownChange): string[] {
  const sides = [seats, users && named(users, ({ sub, email }) => email ?? sub), keys && named(keys, ofKey)]
  const titles = ['', 'users ', 'API keys ']
  return (['gain', 'lose'] as const).flatMap((side) =>
    sides.flatMap((moved, at) => {
      const all = moved?.[side] ?? []
      const count = moved?.[`${side}_count`] ?? all.length
      return count === 0 ? [] : [`${side} ${titles[at]}${namesOf(all, count)}`]
    }),
  )
}

function ofKey({ name }: { readonly name: string }): string {
  return name
}

function named<V>({ gain, lose, ...counts }: MovedNames<V>, nameOf: (one: V) => string): MovedNames<string> {
  return { gain: gain.map(nameOf), lose: lose.map(nameOf), ...counts }
}

/** The first names, and how many more there are. */
function namesOf(all: readonly string[], count: number): string {
  const shown = all.slice(0, MOST_NAMES)
  const more = count - shown.length
  if (shown.length === 0) return `${count}`
  return printable(`${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`)
}

function summary(changes: readonly ShownChange[]): string {
  const counts = KINDS.map((kind) => [kind, changes.filter((each) => each.kind === kind).length] as const)
  const parts = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`)
  return `${plural(changes.length, 'difference')}: ${parts.join(', ')}`
}

export function changesAsMarkdown(changes: readonly ShownChange[]): string {
  if (changes.length === 0) return `### Route tables\n\n${EQUAL}`
  const rows = changes.slice(0, MOST_ROWS).map((change) => {
    const { kind } = change
    const callers = callerLines(change).map(escaped).join('<br>')
    const mark = kind === 'became_public' ? '⚠️ ' : ''
    const cells = [
      `${mark}${MEANING[kind]}`,
      code(routeText(change)),
      permissionAsMarkdown(change.old),
      permissionAsMarkdown(change.new),
      code(requestText(change)),
      ...(change.seats === undefined ? [] : [callers]),
    ]
    return `| ${cells.join(' | ')} |`
  })
  const withCallers = changes[0]?.seats !== undefined
  const who = changes[0]?.users === undefined ? 'Seats' : 'who'
  const titles = ['', 'route', 'before', 'after', 'for example', ...(withCallers ? [who] : [])]
  const rule = titles.map(() => '---')
  const table = [`| ${titles.join(' | ')} |`, `| ${rule.join(' | ')} |`, ...rows].join('\n')
  const more = changes.length - MOST_ROWS
  const rest = more > 0 ? `\n\n… and ${more} more: \`seatgate diff --json\` has all of them.` : ''
  return `### Route tables: ${summary(changes)}\n\n${table}${rest}`
}

function permissionAsMarkdown(entry: EntryView | null): string {
  if (entry === null) return 'no entry'
  const { permission, upstream } = entry
  return `${code(permission)} → ${escaped(upstream + detailsOf(entry))}<br>${escaped(placeOf(entry))}`
}

const HINT = '--json has all of them, each with a request that shows it'

/** Many changes on one screen, by kind and by requirements before and now. @param summary the last line */
function groupsAsText(changes: readonly ShownChange[], summary: string): string {
  const sections = KINDS.flatMap((kind) => {
    const ofKind = changes.filter((change) => change.kind === kind)
    const items = ofKind.map((change) => ({ group: movement(kind, change), line: routeAsText(change) }))
    return ofKind.length === 0 ? [] : [{ title: kind, items }]
  })
  return groupsOnScreen(sections, [HINT, summary])
}

/** The requirements before and after: `trainings:read → public`. */
function movement(kind: ChangeKind, change: ShownChange): string {
  const sides = [change.old, change.new].map((entry) => required(kind, entry))
  return [...new Set(sides)].join(' → ')
}

function required(kind: ChangeKind, entry: EntryView | null): string {
  if (entry === null) return 'no entry (404)'
  return kind === 'rerouted' ? `${entry.permission} at ${entry.upstream}` : entry.permission
}

/** The indentation of the lines of a group. */
const INDENT = 4

/** A route, with its place if there is room for it. */
function routeAsText(change: ShownChange): string {
  const { file, line } = change.new ?? change.old ?? { file: '', line: 0 }
  return onOneLine(routeText(change), line === 0 ? '' : ` (${file}:${line})`, INDENT)
}
