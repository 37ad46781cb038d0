/** What CI systems read: annotations of GitHub Actions, and the text of JUnit's XML. */

import { printable } from '../telemetry/readable.ts'

/**
 * A workflow command, which shows the message at the line of a pull request
 * (docs.github.com/actions/reference/workflow-commands-for-github-actions).
 */
export function githubAnnotation(
  level: 'error' | 'warning',
  { file, line, column }: { readonly file: string; readonly line: number; readonly column?: number },
  message: string,
): string {
  const place = [`file=${property(file)}`, `line=${line}`, ...(column === undefined ? [] : [`col=${column}`])]
  return `::${level} ${place.join(',')}::${data(message)}`
}

function data(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
}

function property(text: string): string {
  return data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text, or the value of an attribute. XML 1.0 has no control characters, so they are escaped as in JSON. */
export function xml(text: string): string {
  const lines = text.split('\n').map(printable).join('\n')
  return lines.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character)
}
