/** Annotations of GitHub Actions. */

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
