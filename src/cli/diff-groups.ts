/** Many changes on one screen: by kind and by what the routes required before and require now. */

import { type Change, type ChangeKind, type EntryView, KINDS } from '../access/change.ts'
import { fitted, isOnScreen, onOneLine, type ScreenSection } from './screen.ts'

/** Routes of a group, from the best view of few groups to the least of many. */
const EXAMPLES = [20, 10, 5, 3, 2, 1]
const HINT = '--json has all of them, each with a request that shows it'

/** @param summary the last line */
export function groupsAsText(changes: readonly Change[], summary: string): string {
  const views = EXAMPLES.map((most) => sectionsOf(changes, most))
  const text = (lines: readonly string[]) => [...lines, HINT, summary].join('\n')
  const whole = views.map((view) => text(view.flatMap(({ title, items }) => [title, ...items])))
  const rest = (left: number) => `  … and ${left} more groups`
  return whole.find(isOnScreen) ?? text(fitted(views.at(-1) ?? [], { reserved: 2, rest }))
}

function sectionsOf(changes: readonly Change[], most: number): ScreenSection[] {
  return KINDS.flatMap((kind) => {
    const found = changes.filter((change) => change.kind === kind)
    if (found.length === 0) return []
    const groups = [...Map.groupBy(found, (change) => movement(kind, change))]
    const items = groups
      .toSorted(([, one], [, other]) => other.length - one.length)
      .map(([title, group]) => groupAsText(title, group, most))
    return [{ title: `${kind} (${found.length})`, items }]
  })
}

function groupAsText(title: string, group: readonly Change[], most: number): string {
  const left = group.length - most
  return [
    `  ${title} (${group.length})`,
    ...group.slice(0, most).map(routeAsText),
    ...(left > 0 ? [`    … and ${left} more`] : []),
  ].join('\n')
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

/** With its place where that fits. */
function routeAsText(change: Change): string {
  const { method, host = '', pattern } = change
  const { file, line } = change.new ?? change.old ?? { file: '', line: 0 }
  return onOneLine(`    ${method} ${host}${pattern}`, line === 0 ? '' : ` (${file}:${line})`)
}
