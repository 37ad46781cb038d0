/** The upstream of the mixed workload as a part of nginx's configuration. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CONTENT_TYPES, HEADER_NAMES, mixedResponses, WRITTEN } from './responses.ts'

/** @param folder exists; receives the bodies */
export function mixedServer(folder: string, port: number): string {
  const responses = mixedResponses()
  const root = join(folder, 'mixed')
  mkdirSync(root)
  const files = responses.map(({ extension }, number) => `${number}.${extension}`)
  responses.forEach(({ body }, number) => writeFileSync(join(root, files[number] ?? ''), body))
  const share = (100 / responses.length).toFixed(2)
  const last = responses.length - 1
  return `split_clients "$request_uri" $response { ${files.map((_, i) => (i < last ? `${share}% ${i};` : `* ${i};`)).join(' ')} }
  map $response $file { ${files.map((file, i) => `${i} ${file};`).join(' ')} }
  ${HEADER_NAMES.map((name) =>
    mapOf(
      name,
      responses.map(({ headers }) => headers.get(name)),
    ),
  ).join('\n  ')}
  server {
    listen 127.0.0.1:${port} backlog=4096;
    types { ${Object.entries(CONTENT_TYPES)
      .map(([extension, type]) => `${type} ${extension};`)
      .join(' ')} }
    root ${root};
    location / {
      if ($request_method != GET) { return 200 '${WRITTEN}'; }
      rewrite ^ /$file break;
      ${HEADER_NAMES.map((name) => `add_header ${name} ${variableOf(name)};`).join('\n      ')}
    }
  }`
}

/**
 * The values of a header line. A value is empty if the response has no such line, and nginx then omits it.
 */
function mapOf(name: string, values: readonly (string | undefined)[]): string {
  const lines = values.map((value, i) =>
    value === undefined ? '' : `${i} "${value.replaceAll('"', '\\"')}";`,
  )
  return `map $response ${variableOf(name)} { default ""; ${lines.join(' ')} }`
}

function variableOf(name: string): string {
  return `$line_${name.toLowerCase().replaceAll('-', '_')}`
}
