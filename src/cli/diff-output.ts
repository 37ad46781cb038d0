/** The changes of route tables as text for a terminal, and as Markdown for a pull request. */

import { type Change, type ChangeKind, type EntryView, KINDS } from '../access/access-change.ts'
import { groupsOnScreen } from './groups.ts'
import { fold, isOnScreen, onOneLine } from './screen.ts'

const EQUAL = 'No request is answered differently: the tables are equal.'

/** Names of Seats on one line. */
const MOST_SEATS = 5
/** Rows of a comment, which GitHub cuts off at 65,536 characters. */
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

export function changesAsText(changes: readonly Change[]): string {
  if (changes.length === 0) return EQUAL
  const text = [...changes.map(changeAsText), summary(changes)].join('\n\n')
  return isOnScreen(text) ? text : groupsAsText(changes, summary(changes))
}

function changeAsText(change: Change): string {
  return [
    `${change.kind}  ${routeText(change)}`,
    `  old  ${entryAsText(change.old)}`,
    `  new  ${entryAsText(change.new)}`,
    `  e.g. ${requestText(change)}`,
    ...seatLines(change).map((line) => fold(line, '  ', '       ')),
  ].join('\n')
}

/** `GET api.example.com/v1/a`. */
function routeText({ method, host = '', pattern }: Change): string {
  return `${method} ${host}${pattern}`
}

function requestText({ witness: { method, host = '', path } }: Change): string {
  return `${method} ${host}${path}`
}

/** Beside permission and upstream: the tenant, the source of the space, and what changes of the path. */
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
  const { permission, upstream, file, line } = entry
  return `${permission} → ${upstream}${detailsOf(entry)} (${line === 0 ? file : `${file}:${line}`})`
}

function seatLines({ seats }: Change): string[] {
  if (seats === undefined) return []
  const { gain, lose } = seats
  const lines = [
    ['gain', gain],
    ['lose', lose],
  ] as const
  return lines.flatMap(([word, names]) => (names.length === 0 ? [] : [`${word} ${namesAsText(names)}`]))
}

function namesAsText(names: readonly string[]): string {
  const shown = names.slice(0, MOST_SEATS).join(', ')
  return names.length > MOST_SEATS ? `${shown} and ${names.length - MOST_SEATS} more` : shown
}

function summary(changes: readonly Change[]): string {
  const counts = KINDS.map((kind) => [kind, changes.filter((each) => each.kind === kind).length] as const)
  const parts = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`)
  const noun = changes.length === 1 ? 'difference' : 'differences'
  return `${changes.length} ${noun}: ${parts.join(', ')}`
}

export function changesAsMarkdown(changes: readonly Change[]): string {
  if (changes.length === 0) return `### Route tables\n\n${EQUAL}`
  const rows = changes.slice(0, MOST_ROWS).map((change) => {
    const { kind } = change
    const seats = seatLines(change).map(escaped).join('<br>')
    const mark = kind === 'became_public' ? '⚠️ ' : ''
    const cells = [
      `${mark}${MEANING[kind]}`,
      code(routeText(change)),
      permissionAsMarkdown(change.old),
      permissionAsMarkdown(change.new),
      code(requestText(change)),
      ...(change.seats === undefined ? [] : [seats]),
    ]
    return `| ${cells.join(' | ')} |`
  })
  const withSeats = changes[0]?.seats !== undefined
  const titles = ['', 'route', 'before', 'after', 'for example', ...(withSeats ? ['Seats'] : [])]
  const rule = titles.map(() => '---')
  const table = [`| ${titles.join(' | ')} |`, `| ${rule.join(' | ')} |`, ...rows].join('\n')
  const more = changes.length - MOST_ROWS
  const rest = more > 0 ? `\n\n… and ${more} more: \`seatgate diff --json\` has all of them.` : ''
  return `### Route tables: ${summary(changes)}\n\n${table}${rest}`
}

function permissionAsMarkdown(entry: EntryView | null): string {
  if (entry === null) return 'no entry'
  const { permission, upstream, file, line } = entry
  const place = line === 0 ? file : `${file}:${line}`
  return `${code(permission)} → ${escaped(upstream + detailsOf(entry))}<br>${escaped(place)}`
}

/** In a table cell: a `|` ends the cell even within code. */
function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|').replaceAll('`', "'")}\``
}

function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|#!]/g, '\\$&')
}

const HINT = '--json has all of them, each with a request that shows it'

/** Many changes on one screen: by kind and by what the routes required before and require now. @param summary the last line */
function groupsAsText(changes: readonly Change[], summary: string): string {
  const sections = KINDS.flatMap((kind) => {
    const found = changes.filter((change) => change.kind === kind)
    const items = found.map((change) => ({ group: movement(kind, change), line: routeAsText(change) }))
    return found.length === 0 ? [] : [{ title: kind, items }]
  })
  return groupsOnScreen(sections, [HINT, summary])
}

/** `trainings:read → public`. */
function movement(kind: ChangeKind, change: Change): string {
  const sides = [change.old, change.new].map((entry) => required(kind, entry))
  return [...new Set(sides)].join(' → ')
}

function required(kind: ChangeKind, entry: EntryView | null): string {
  if (entry === null) return 'no entry (404)'
  return kind === 'rerouted' ? `${entry.permission} at ${entry.upstream}` : entry.permission
}

/** Of the lines of a group. */
const INDENT = 4

/** With its place where that fits. */
function routeAsText(change: Change): string {
  const { method, host = '', pattern } = change
  const { file, line } = change.new ?? change.old ?? { file: '', line: 0 }
  return onOneLine(`${method} ${host}${pattern}`, line === 0 ? '' : ` (${file}:${line})`, INDENT)
}
