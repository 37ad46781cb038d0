/** Many changes on one screen: by kind and by what the routes required before and require now. */

import { type Change, type ChangeKind, type EntryView, KINDS } from '../access/access-change.ts'
import { groupsOnScreen } from './groups.ts'
import { onOneLine } from './screen.ts'

const HINT = '--json has all of them, each with a request that shows it'

/** @param summary the last line */
export function groupsAsText(changes: readonly Change[], summary: string): string {
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
