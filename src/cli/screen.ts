/** Text for a screen of 80 columns and 50 lines. Paths and other data without spaces are not cut. */

/** The width in columns if it is unknown. */
export const COLUMNS = 80
/** The width below which no column is narrowed. */
const NARROW = 16
/** The lines of a screen, less two: the command itself and the next prompt. */
const LINES = 48

/**
 * Breaks text at spaces.
 *
 * @param first the beginning of the first line
 * @param others the indentation of further lines
 */
export function fold(text: string, first = '', others = first): string {
  return foldWords(text.split(' '), first, others)
}

/** Breaks lines between words, which may contain spaces. */
export function foldWords(words: readonly string[], first = '', others = first): string {
  const [head = '', ...rest] = words
  const lines = [first + head]
  for (const word of rest) {
    const line = `${lines.at(-1)} ${word}`
    if (line.length <= COLUMNS) lines[lines.length - 1] = line
    else lines.push(others + word)
  }
  return lines.join('\n')
}

/** A table without borders. In wide tables, a long cell shifts the later cells of its own line. */
export function columns(rows: readonly (readonly string[])[]): string {
  const count = Math.max(0, ...rows.map(({ length }) => length))
  const all = Array.from({ length: count }, (_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)))
  const widths = all.slice(0, -1)
  const room = COLUMNS - (all.at(-1) ?? 0) - 2 * widths.length
  const sum = () => widths.reduce((total, width) => total + width, 0)
  while (sum() > room && Math.max(...widths) > NARROW) {
    const widest = Math.max(...widths)
    widths[widths.indexOf(widest)] = widest - 1
  }
  const starts = widths.reduce<number[]>(
    (offsets, width) => [...offsets, (offsets.at(-1) ?? 0) + width + 2],
    [0],
  )
  return rows
    .map((row) =>
      row.reduce((line, cell, at) => (at === 0 ? cell : `${line}  `.padEnd(starts[at] ?? 0) + cell), ''),
    )
    .join('\n')
}

/** The text with the addition, if there is room for it. @param indent columns before the text */
export function onOneLine(text: string, addition: string, indent = 0): string {
  return indent + text.length + addition.length <= COLUMNS ? text + addition : text
}

export function isOnScreen(text: string): boolean {
  return height(text) <= LINES
}

interface ScreenSection {
  readonly title: string
  /** The items, each of one or more lines. */
  readonly items: readonly string[]
}

/**
 * Sections with as many of their items as fit, and at least one each. The first sections get more room.
 *
 * @param most the most items of a section
 * @param reserved the number of lines of other text
 * @param rest the text for the omitted items
 */
export function fitted(
  sections: readonly ScreenSection[],
  { most = Infinity, reserved = 0, rest }: FitOptions,
): string[] {
  let room = LINES - reserved
  const shown = sections.map(({ items }) => Math.min(items.length, 1))
  for (const { title, items } of sections)
    room -= height(title) + height(items[0] ?? '') + (items.length > 1 ? 1 : 0)
  for (const [at, { items }] of sections.entries())
    for (const item of items.slice(1, most)) {
      if (height(item) > room) break
      room -= height(item)
      shown[at] = (shown[at] ?? 0) + 1
    }
  return sections.flatMap(({ title, items }, at) => {
    const left = items.slice(shown[at])
    return [title, ...items.slice(0, shown[at]), ...(left.length > 0 ? [rest(left.length)] : [])]
  })
}

interface FitOptions {
  readonly most?: number
  readonly reserved?: number
  readonly rest: (left: number) => string
}

function height(text: string): number {
  return text.split('\n').length
}

export interface Findings {
  readonly title: string
  readonly items: readonly { readonly group: string; readonly line: string }[]
}

/** The numbers of lines of a group, from the best view of few groups to the shortest view of many. */
const EXAMPLES = [20, 10, 5, 3, 2, 1]

/**
 * Many findings on one screen: sections of groups, the largest group first, each with some examples.
 *
 * @param end lines after the groups
 * @param reserved the number of lines of other text on the screen
 */
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
    .map(([group, members]) => {
      const left = members.length - most
      return [
        `  ${group} (${members.length})`,
        ...members.slice(0, most).map(({ line }) => `    ${line}`),
        ...(left > 0 ? [`    … and ${left} more`] : []),
      ].join('\n')
    })
  return { title: `${title} (${items.length})`, items: shown }
}

/** A count with its noun: `1 route`, `2 routes`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
