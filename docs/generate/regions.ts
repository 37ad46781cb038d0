/** Generated regions of a hand-written page: what stands between `<!-- generated: NAME -->` and the next `<!-- end -->`. */

/** @throws where the page does not have the region exactly once */
export function replaceRegion(page: string, name: string, content: string): string {
  const [begin, end] = [`<!-- generated: ${name} -->\n`, '<!-- end -->']
  const [before = '', after, ...more] = page.split(begin)
  const at = after?.indexOf(end) ?? -1
  if (after === undefined || more.length > 0 || at < 0) throw new Error(`no single region "${name}"`)
  return `${before}${begin}\n${content}\n\n${after.slice(at)}`
}

/** A Markdown table. A `|` inside a cell would end it. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), `|${'---|'.repeat(head.length)}`, ...rows.map(line)].join('\n')
}

export function code(text: string): string {
  return `\`${text}\``
}
