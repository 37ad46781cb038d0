/** `seatgate diff`: what a change of the route tables changes, over all requests that there can be. */

import { type Change, type ChangeKind, changesOf, type EntryView, KINDS } from '../access/access-change.ts'
import { differences } from '../access/difference.ts'
import { JSON_OUTPUT, SEATS_FILE, TENANT } from './arguments.ts'
import { defineCommand } from './command.ts'
import { names } from './remote/list-output.ts'
import { plural, fold, groupsOnScreen, isOnScreen, onOneLine } from './screen.ts'
import { grantingSeats } from './seat-source.ts'
import { readTables } from './table-source.ts'
import { code, escaped } from './markdown.ts'

const WHERE =
  'a configuration file, its folder, or git:REV for the file at a revision; prefix it with shadow: for its candidate tables'

export const diff = defineCommand({
  name: 'diff',
  summary:
    'Proves that two sets of route tables are equal, or shows each difference with an example request.',
  details:
    'It compares the answers to every possible request, not the text: moving or splitting an entry changes nothing. 404 and 405 count as the same. Environment variables are not needed.',
  positionals: [
    { name: 'OLD', description: WHERE, completes: 'file' },
    { name: 'NEW', description: WHERE, completes: 'file' },
  ],
  options: {
    tenant: {
      ...TENANT,
      description:
        "shows which of this tenant's Seats gain or lose access; takes them from the store of NEW, or from the file given with --seats",
    },
    seats: SEATS_FILE,
    json: JSON_OUTPUT,
    markdown: { description: 'prints Markdown for a pull request' },
  },
  exits: { 0: 'the tables are equal', 1: 'one of them has faults', 3: 'there are differences' },
  example: 'seatgate diff git:main gateway.config.yaml --markdown',
  run: async ({ values, positionals }, terminal) => {
    const [old = '', latest = ''] = positionals
    const before = await readTables(old)
    const after = await readTables(latest)
    const seats = await grantingSeats(values, after.file, terminal)
    const changes = changesOf(differences(before.tables, after.tables), seats)
    const equal = changes.length === 0
    if (values.json) await terminal.print(JSON.stringify({ equal, changes }, null, 2))
    else await terminal.print((values.markdown ? changesAsMarkdown : changesAsText)(changes))
    return equal ? 0 : DIFFERENT
  },
})

/** The exit code if there are differences. */
const DIFFERENT = 3

const EQUAL = 'No request is answered differently: the tables are equal.'

/** The most names of Seats on one line. */
const MOST_SEATS = 5
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

function changesAsText(changes: readonly Change[]): string {
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

/** The method and pattern of a route: `GET api.example.com/v1/a`. */
function routeText({ method, host = '', pattern }: Change): string {
  return `${method} ${host}${pattern}`
}

function requestText({ witness: { method, host = '', path } }: Change): string {
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

function seatLines({ seats }: Change): string[] {
  if (seats === undefined) return []
  const { gain, lose } = seats
  return [
    ...(gain.length === 0 ? [] : [`gain ${names(gain, MOST_SEATS)}`]),
    ...(lose.length === 0 ? [] : [`lose ${names(lose, MOST_SEATS)}`]),
  ]
}

function summary(changes: readonly Change[]): string {
  const counts = KINDS.map((kind) => [kind, changes.filter((each) => each.kind === kind).length] as const)
  const parts = counts.filter(([, count]) => count > 0).map(([kind, count]) => `${count} ${kind}`)
  return `${plural(changes.length, 'difference')}: ${parts.join(', ')}`
}

function changesAsMarkdown(changes: readonly Change[]): string {
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
  const { permission, upstream } = entry
  return `${code(permission)} → ${escaped(upstream + detailsOf(entry))}<br>${escaped(placeOf(entry))}`
}

const HINT = '--json has all of them, each with a request that shows it'

/** Many changes on one screen, by kind and by requirements before and now. @param summary the last line */
function groupsAsText(changes: readonly Change[], summary: string): string {
  const sections = KINDS.flatMap((kind) => {
    const ofKind = changes.filter((change) => change.kind === kind)
    const items = ofKind.map((change) => ({ group: movement(kind, change), line: routeAsText(change) }))
    return ofKind.length === 0 ? [] : [{ title: kind, items }]
  })
  return groupsOnScreen(sections, [HINT, summary])
}

/** The requirements before and after: `trainings:read → public`. */
function movement(kind: ChangeKind, change: Change): string {
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
function routeAsText(change: Change): string {
  const { file, line } = change.new ?? change.old ?? { file: '', line: 0 }
  return onOneLine(routeText(change), line === 0 ? '' : ` (${file}:${line})`, INDENT)
}
