/** Text in tables of Markdown. */

/** A cell of a table with code. A `|` ends the cell even within code. */
export function code(text: string): string {
  return `\`${text.replaceAll('|', '\\|').replaceAll('`', "'")}\``
}

export function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|#!@]/g, '\\$&')
}
