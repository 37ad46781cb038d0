/** The names in log lines and in headers for upstreams, read from the sources that write them. */

import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const sources = globSync('{src,seats-admin}/**/*.ts', { cwd: root }).map(textOf)

function textOf(path: string): string {
  return readFileSync(root + path, 'utf8')
}

function namesIn(texts: readonly string[], pattern: RegExp): string[] {
  const names = texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name = '']) => name))
  return [...new Set(names)].sort()
}

/** The fields that the manual lists and a source writes. */
function logFields(): string[] {
  const manual = textOf('docs/operations.md').split('\n## Log\n')[1]?.split('\n## ')[0] ?? ''
  const cells = manual.match(/^\| `[^|]*\|/gm) ?? []
  const isWritten = (name: string) =>
    sources.some((text) => new RegExp(`"${name}":|note\\('${name}'|logged: \\{ ${name}:`).test(text))
  return namesIn(cells, /`(\w+)`/g).filter(isWritten)
}

export function loggedNames(): Readonly<Record<'log' | 'events' | 'headers', readonly string[]>> {
  return {
    log: logFields(),
    events: namesIn(sources, /\bevent: '(\w+)'/g),
    headers: namesIn([textOf('src/proxy/identity-headers.ts')], /'(x-seatgate-[a-z-]+)'/g),
  }
}
