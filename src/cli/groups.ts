/** Many findings on one screen: sections of groups, the largest first, each with some examples. */

import { fitted, isOnScreen, type ScreenSection } from './screen.ts'

export interface Findings {
  readonly title: string
  readonly items: readonly { readonly group: string; readonly line: string }[]
}

/** Lines of a group, from the best view of few groups to the least of many. */
const EXAMPLES = [20, 10, 5, 3, 2, 1]

/** @param end lines behind the groups @param reserved lines of other text on the screen */
export function groupsOnScreen(sections: readonly Findings[], end: readonly string[], reserved = 0): string {
  const views = EXAMPLES.map((most) => sections.map((each) => sectionOf(each, most)))
  const text = (lines: readonly string[]) => [...lines, ...end].join('\n')
  const whole = views.map((view) => text(view.flatMap(({ title, items }) => [title, ...items])))
  const rest = (left: number) => `  … and ${left} more groups`
  const fits = (each: string) => isOnScreen(each + '\n'.repeat(reserved))
  return whole.find(fits) ?? text(fitted(views.at(-1) ?? [], { reserved: end.length + reserved, rest }))
}

function sectionOf({ title, items }: Findings, most: number): ScreenSection {
  const groups = [...Map.groupBy(items, ({ group }) => group)]
  const shown = groups
    .toSorted(([, one], [, other]) => other.length - one.length)
    .map(([group, found]) =>
      groupAsText(
        group,
        found.map(({ line }) => line),
        most,
      ),
    )
  return { title: `${title} (${items.length})`, items: shown }
}

function groupAsText(group: string, lines: readonly string[], most: number): string {
  const left = lines.length - most
  return [
    `  ${group} (${lines.length})`,
    ...lines.slice(0, most).map((line) => `    ${line}`),
    ...(left > 0 ? [`    … and ${left} more`] : []),
  ].join('\n')
}
